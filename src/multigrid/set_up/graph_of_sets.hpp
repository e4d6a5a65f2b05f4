// SPDX-License-Identifier: BSD-3-Clause
// A graph of nodes from a functor that names the neighbours of one node.
#pragma once

#include <cstdint>
#include <utility>

#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/node_graph.hpp"

namespace trireme::multigrid {

// Returns the graph whose node I has the neighbours that gather(I, sums) inserts (make_rows.hpp),
// ascending and once each. They are below `columns`; those from `nodes` on are ghosts.
template <class Gather>
NodeGraph graph_of_sets(std::int32_t nodes, std::int64_t columns, const Gather& gather) {
  CsrMatrix<double> rows = make_rows<1>(nodes, columns, ColumnOrder::ascending, gather);
  return {.nodes = nodes,
          .row_ptr = std::move(rows.row_ptr),
          .neighbour = std::move(rows.col_idx),
          .ghosts = static_cast<std::int32_t>(columns - nodes)};
}

}  // namespace trireme::multigrid
