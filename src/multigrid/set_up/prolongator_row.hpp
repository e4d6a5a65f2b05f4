// SPDX-License-Identifier: BSD-3-Clause
// The functors of the diagonal of A_F and of a row of P (prolongator.hpp).
#pragma once

#include <cstdint>
#include <limits>

#include "multigrid/set_up/filtered_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

inline constexpr double kLeastDiagonal = 0.1;  // of D, relative to the diagonal of A

struct FindFilteredDiagonal {
  FilteredRows a;
  double* diagonal;

  // For groups of lanes (one_thread.hpp).
  template <class Group>
  TRIREME_HD void operator()(std::int64_t i, const Group& group) const {
    const double filtered =
        a.total(i, group, [&](std::int32_t j, double value) { return j == i ? value : 0; });
    const std::int32_t first = a.row_ptr[i];
    const double plain = group.total(a.row_ptr[i + 1] - first, [&](std::int64_t t) {
      return a.col_idx[first + t] == i ? a.values[first + t] : 0;
    });
    const bool usable = filtered / plain > kLeastDiagonal;
    if (group.rank() == 0)
      diagonal[i] = usable ? filtered : std::numeric_limits<double>::infinity();
  }
};

// Adds up row i of P, whose runs are aggregates.
template <int kWidth>
struct ProlongatorRow {
  static constexpr bool kOwners = kWidth == 1;
  FilteredRows a;
  const double* diagonal;
  double weight;
  const std::int32_t* aggregate;  // by node
  const double* tentative;        // null: constants
  std::int32_t width;             // columns per aggregate, a multiple of kWidth

  template <class Sums>
  TRIREME_HD void operator()(std::int64_t i, Sums& sums) const {
    if (aggregate[i / a.size] < 0) return;
    const auto own = static_cast<std::int32_t>(i);
    if constexpr (!Sums::kOrdered) {
      if (weight != 0)
        for (std::int32_t k = a.row_ptr[i] + sums.lane(); k < a.row_ptr[i + 1]; k += sums.lanes())
          if (!sums.is_full()) insert(a.column(i, k), sums);
      if (sums.lane() == 0) insert(own, sums);
    } else {
      if (weight != 0) add_entries(i, -weight / diagonal[i], sums);
      if constexpr (Sums::kByOwners)
        sums.add(aggregate_of(own), tentative ? tentative[own] : 1, 1);
      else
        add(own, aggregate_of(own), 1, sums);
    }
  }
  TRIREME_HD std::int64_t terms(std::int64_t i) const {
    if (aggregate[i / a.size] < 0) return 0;
    return (a.entries(i) + 1) * (width / kWidth);
  }
  TRIREME_HD std::int32_t aggregate_of(std::int32_t j) const {
    return aggregate[a.size == 1 ? j : j / a.size];
  }
  TRIREME_HD bool by_owners() const { return width == 1; }
  // Inserts the columns of row j of T.
  template <class Sums>
  TRIREME_HD void insert(std::int32_t j, Sums& sums) const {
    const std::int32_t own = aggregate_of(j);
    if (own < 0) return;
    for (std::int32_t first = 0; first < width; first += kWidth)
      sums.insert((own * width + first) / kWidth);
  }
  // Adds `factor` times row i of A_F T. Of several lanes, each reads an entry of A for all others.
  template <class Sums>
  TRIREME_HD void add_entries(std::int64_t i, double factor, Sums& sums) const {
    const std::int32_t lane = sums.lane(), lanes = sums.lanes();
    if constexpr (!Sums::kByOwners) {
      if (lanes == 1) {
        a.for_entries(i, [&](std::int32_t j, double value) {
          add(j, aggregate_of(j), factor * value, sums);
        });
        return;
      }
    }
    const std::int32_t end = a.row_ptr[i + 1];
    for (std::int32_t base = a.row_ptr[i]; base < end; base += lanes) {
      const std::int32_t k = base + lane, entries = end - base < lanes ? end - base : lanes;
      std::int32_t own_column = 0, own_aggregate = -1;
      double own_factor = 0;
      if (k < end) {
        own_column = a.column(i, k);
        own_aggregate = aggregate_of(own_column);
        own_factor = factor * a.values[k];
      }
      if constexpr (Sums::kByOwners) {
        if (tentative && own_aggregate >= 0) own_factor *= tentative[own_column];
        sums.add(own_aggregate, own_factor, entries);
      } else {
        for (std::int32_t entry = 0; entry < entries; ++entry)
          add(sums.from(own_column, entry), sums.from(own_aggregate, entry),
              sums.from(own_factor, entry), sums);
      }
    }
  }
  // Adds `factor` times row j of T, whose node belongs to the aggregate `own`.
  template <class Sums>
  TRIREME_HD void add(std::int32_t j, std::int32_t own, double factor, Sums& sums) const {
    if (own < 0) return;
    const double* const line =
        tentative ? tentative + static_cast<std::int64_t>(j) * width : nullptr;
    const std::int32_t unknown = a.size == 1 ? 0 : j % a.size;
    for (std::int32_t first = 0; first < width; first += kWidth) {
      double* const run = sums.at((own * width + first) / kWidth);
      for (std::int32_t c = sums.lane(); c < kWidth; c += sums.lanes())
        run[c] += line ? factor * line[first + c] : (first + c == unknown ? factor : 0);
    }
  }
};

}  // namespace trireme::multigrid
