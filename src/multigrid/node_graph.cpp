// SPDX-License-Identifier: BSD-3-Clause
// Symmetric graphs of nodes, and graphs of their parts.
#include "multigrid/node_graph.hpp"

#include <algorithm>
#include <utility>

#include "multigrid/host_place.hpp"
#include "multigrid/make_rows.hpp"
#include "multigrid/members.hpp"
#include "multigrid/sparse_product.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

struct SortNeighbours {
  const std::int32_t* row_ptr;
  std::int32_t* neighbour;

  TRIREME_HD void operator()(std::int64_t node) const {
    std::int32_t* const begin = neighbour + row_ptr[node];
    std::int32_t* const end = neighbour + row_ptr[node + 1];
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
  }
};

// Returns how many edges to larger nodes have no edge back.
struct MissingEdges {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;

  TRIREME_HD double operator()(std::int64_t node) const {
    std::int32_t missing = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const std::int32_t other = neighbour[k];
      if (other > node) missing += !holds(other, static_cast<std::int32_t>(node));
    }
    return missing;
  }
  TRIREME_HD bool holds(std::int32_t node, std::int32_t wanted) const {
    std::int32_t low = row_ptr[node], high = row_ptr[node + 1];
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (neighbour[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low < row_ptr[node + 1] && neighbour[low] == wanted;
  }
};

// Returns the number of edges to larger nodes less that of edges to smaller ones.
struct EdgesUp {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;

  TRIREME_HD double operator()(std::int64_t node) const {
    std::int32_t sum = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      sum += neighbour[k] > node ? 1 : -1;
    return sum;
  }
};

// The graph whose node I has the columns that gather(I, sums) inserts.
template <class Gather>
NodeGraph graph_of_sets(std::int32_t nodes, const Gather& gather) {
  CsrMatrix<double> rows = make_rows<1>(nodes, nodes, ColumnOrder::ascending, gather);
  return {.nodes = nodes, .row_ptr = std::move(rows.row_ptr), .neighbour = std::move(rows.col_idx)};
}

struct GatherBoth {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const std::int32_t* back_ptr;
  const std::int32_t* back;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) set.insert(neighbour[k]);
    for (std::int32_t k = back_ptr[node]; k < back_ptr[node + 1]; ++k) set.insert(back[k]);
  }
};

struct GatherParts {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const std::int32_t* part;
  const std::int32_t* first_member;  // by part
  const std::int32_t* member;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t own, Set& set) const {
    for (std::int32_t m = first_member[own]; m < first_member[own + 1]; ++m) {
      const std::int32_t node = member[m];
      for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
        const std::int32_t other = part[neighbour[k]];
        if (other >= 0 && other != own) set.insert(other);
      }
    }
  }
};

}  // namespace

void sort_neighbours(NodeGraph& graph) {
  HostPlace::for_each(graph.nodes, SortNeighbours{graph.row_ptr.data(), graph.neighbour.data()});
}

void make_symmetric(NodeGraph& graph) {
  const std::int32_t* const row_ptr = graph.row_ptr.data();
  sort_neighbours(graph);
  // Where each edge to a larger node has an edge back, and there are as many edges to smaller nodes
  // as to larger ones, none is missing.
  const bool is_symmetric =
      HostPlace::sum(graph.nodes, EdgesUp{row_ptr, graph.neighbour.data()}) == 0 &&
      HostPlace::sum(graph.nodes, MissingEdges{row_ptr, graph.neighbour.data()}) == 0;
  if (is_symmetric) return;
  const TransposedPattern back = transposed_pattern(graph.nodes, graph.row_ptr, graph.neighbour);
  graph = graph_of_sets(graph.nodes, GatherBoth{graph.row_ptr.data(), graph.neighbour.data(),
                                                back.row_ptr.data(), back.col_idx.data()});
}

NodeGraph quotient(const NodeGraph& graph, std::span<const std::int32_t> part, std::int32_t parts) {
  const Members members(part, parts);
  return graph_of_sets(parts, GatherParts{graph.row_ptr.data(), graph.neighbour.data(), part.data(),
                                          members.first.data(), members.member.data()});
}

}  // namespace trireme::multigrid
