// SPDX-License-Identifier: BSD-3-Clause
// The functors of the diagonal of A_F and of a row of P (prolongator.hpp).
#pragma once

#include <cstdint>
#include <limits>

#include "multigrid/filtered_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

inline constexpr double kLeastDiagonal = 0.1;  // of D, relative to the diagonal of A

struct FindFilteredDiagonal {
  FilteredRows a;
  double* diagonal;

  TRIREME_HD void operator()(std::int64_t i) const {
    double filtered = 0, plain = 0;
    a.for_entries(i, [&](std::int32_t j, double value) { filtered += j == i ? value : 0; });
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      plain += a.col_idx[k] == i ? a.values[k] : 0;
    const bool usable = filtered / plain > kLeastDiagonal;
    diagonal[i] = usable ? filtered : std::numeric_limits<double>::infinity();
  }
};

// Adds up row i of P, whose runs are aggregates.
template <int kWidth>
struct ProlongatorRow {
  static constexpr bool kForLanes = false;
  FilteredRows a;
  const double* diagonal;
  double weight;
  const std::int32_t* aggregate;  // by node
  const double* tentative;        // null: constants
  std::int32_t width;             // columns per aggregate, a multiple of kWidth

  template <class Sums>
  TRIREME_HD void operator()(std::int64_t i, Sums& sums) const {
    if (aggregate[i / a.size] < 0) return;
    if (weight != 0) {
      const double factor = -weight / diagonal[i];
      a.for_entries(i, [&](std::int32_t j, double value) { add(j, factor * value, sums); });
    }
    add(static_cast<std::int32_t>(i), 1, sums);
  }
  TRIREME_HD std::int64_t bound(std::int64_t i) const {
    if (aggregate[i / a.size] < 0) return 0;
    return (a.entries(i) + 1) * (width / kWidth);
  }
  // Adds factor times row j of T.
  template <class Sums>
  TRIREME_HD void add(std::int32_t j, double factor, Sums& sums) const {
    const std::int32_t own = aggregate[a.size == 1 ? j : j / a.size];
    if (own < 0) return;
    const double* const line =
        tentative ? tentative + static_cast<std::int64_t>(j) * width : nullptr;
    const std::int32_t unknown = a.size == 1 ? 0 : j % a.size;
    for (std::int32_t first = 0; first < width; first += kWidth) {
      double* const run = sums.at((own * width + first) / kWidth);
      for (int c = 0; c < kWidth; ++c)
        run[c] += line ? factor * line[first + c] : (first + c == unknown ? factor : 0);
    }
  }
};

}  // namespace trireme::multigrid
