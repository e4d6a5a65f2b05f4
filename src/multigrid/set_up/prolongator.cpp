// SPDX-License-Identifier: BSD-3-Clause
// The smoothed prolongator: its pattern and its values.
#include "multigrid/set_up/prolongator.hpp"

#include <cmath>
#include <limits>

#include "multigrid/set_up/filtered_row.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/prolongator_row.hpp"

namespace trireme::multigrid {
namespace {

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
  HostPlace::for_each(a.a.local.rows, by_one_thread<kLanesOfRow>(
                                          FindFilteredDiagonal{FilteredRows(a), diagonal.data()}));
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
