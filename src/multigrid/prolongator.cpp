// SPDX-License-Identifier: BSD-3-Clause
// The smoothed prolongator: its pattern and its values.
#include "multigrid/prolongator.hpp"

#include <cmath>
#include <limits>

#include "multigrid/filtered_row.hpp"
#include "multigrid/host_place.hpp"
#include "multigrid/make_rows.hpp"

namespace trireme::multigrid {
namespace {

constexpr double kLeastDiagonal = 0.1;  // of D, relative to the diagonal of A

struct FindDiagonal {
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

template <int kWidth>
ProlongatorRow<kWidth> row_of(const ProlongatorRules& rules) {
  const Tentative& t = *rules.tentative;
  return {FilteredRows(rules.a),
          rules.diagonal.data(),
          rules.weight,
          rules.aggregate_of_node.data(),
          t.values.empty() ? nullptr : t.values.data(),
          t.width};
}

}  // namespace

Array<double> filtered_diagonal(const FilteredMatrix& a) {
  Array<double> diagonal(a.a.local.rows);
  HostPlace::for_each(a.a.local.rows, FindDiagonal{FilteredRows(a), diagonal.data()});
  return diagonal;
}

CsrMatrix<double> make_prolongator(const ProlongatorRules& rules) {
  const std::int32_t width = rules.tentative->width;
  return with_width(width, [&](auto run) {
    return make_rows<run>(rules.a.a.local.rows, static_cast<std::int64_t>(rules.aggregates) * width,
                          ColumnOrder::ascending, row_of<run>(rules));
  });
}

void refill_prolongator(const ProlongatorRules& rules, CsrMatrix<double>& p) {
  with_width(rules.tentative->width, [&](auto run) { refill_rows<run>(p, row_of<run>(rules)); });
}

}  // namespace trireme::multigrid
