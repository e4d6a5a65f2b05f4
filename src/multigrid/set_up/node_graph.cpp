// SPDX-License-Identifier: BSD-3-Clause
// Symmetric graphs of nodes, and graphs of their parts. Edges between nodes of different ranks
// travel to the ranks of their nodes; all other edges stay where they are.
#include "multigrid/set_up/node_graph.hpp"

#include <optional>
#include <type_traits>
#include <utility>

#include "base/split_mix.hpp"
#include "multigrid/ranks/edges_of_others.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/node_graph_functors.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "parallel/collective.hpp"
#include "parallel/secret_numbers.hpp"

namespace trireme::multigrid {
namespace {

// Calls visit(node, ghost) for each edge to a node of another rank. Neighbours ascend.
template <class Visit>
void for_crossing_edges(const NodeGraph& g, const Visit& visit) {
  if (g.ghosts.empty()) return;
  for (std::int32_t node = 0; node < g.nodes; ++node)
    for (std::int32_t k = g.row_ptr[node + 1]; k > g.row_ptr[node]; --k) {
      if (g.neighbour[k - 1] < g.nodes) break;
      visit(node, g.neighbour[k - 1] - g.nodes);
    }
}

// Whether each edge has one back. Within a rank, this is so where each edge to a larger node has an
// edge back, and there are as many edges to smaller nodes as to larger ones. An edge that crosses
// and the one back have the same hash, of which one is added and the other subtracted, so that sums
// of edges without a partner are 0 with a probability of 2^-64.
bool is_symmetric(const NodeGraph& g) {
  const std::int32_t* const row_ptr = g.row_ptr.data();
  const std::int32_t* const neighbour = g.neighbour.data();
  const bool symmetric = HostPlace::sum(g.nodes, EdgesUp{row_ptr, neighbour, g.nodes}) == 0 &&
                         HostPlace::sum(g.nodes, MissingEdges{row_ptr, neighbour, g.nodes}) == 0;
  const auto first = static_cast<std::uint64_t>(g.first());
  const std::uint64_t key = secret_number(g.comm);
  std::uint64_t sums[2] = {0, symmetric ? 0U : 1U};
  for_crossing_edges(g, [&](std::int32_t node, std::int32_t ghost) {
    const std::uint64_t own = first + static_cast<std::uint64_t>(node);
    const auto other = static_cast<std::uint64_t>(g.ghosts[ghost]);
    const bool ascends = own < other;
    const std::uint64_t hash = mix_bits((ascends ? own << 32 ^ other : other << 32 ^ own) + key);
    sums[0] += ascends ? hash : -hash;
  });
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, g.comm);
  return sums[0] == 0 && sums[1] == 0;
}

// Gives the columns that a functor inserts their numbers in another graph.
template <class Sums>
struct Renumbered {
  Sums& sums;
  std::int32_t nodes;
  const std::int32_t* place;  // of column nodes + k

  static constexpr std::int32_t lane() { return 0; }
  static constexpr std::int32_t lanes() { return 1; }
  void insert(std::int32_t column) { sums.insert(column < nodes ? column : place[column - nodes]); }
};

// The graph of this rank's nodes, whose neighbours gather(node, sums) inserts, column nodes + k
// being the node others[k] of another rank; and of the edges that other ranks have for them.
// `edges` are those that this rank has for nodes of other ranks. Collective.
template <class Gather>
NodeGraph joined(MPI_Comm comm, std::vector<std::int64_t> starts, const Array<std::int32_t>& others,
                 const Array<Edge>& edges, const Gather& gather) {
  NodeGraph g{.comm = comm, .starts = std::move(starts), .neighbour{}, .ghosts{}, .halo{}};
  const EdgesOfOthers received(comm, g.starts, edges);
  const std::int64_t first = g.first();
  g.nodes = static_cast<std::int32_t>(g.starts[rank_of(comm) + 1] - first);
  collectively(comm, [&] {
    Array<std::int32_t> ends = received.to();
    ends.insert(ends.end(), others.begin(), others.end());
    g.ghosts = others_among(ends, first, g.nodes);
    const LocalNumbers local(first, g.nodes, g.ghosts);
    for (std::int32_t& end : ends) end = local(end);
    const std::int32_t* const place = ends.data() + received.to().size();
    CsrMatrix<double> rows = make_rows<1>(
        g.nodes, g.columns(), ColumnOrder::ascending, [&](std::int64_t node, auto& sums) {
          Renumbered<std::remove_reference_t<decltype(sums)>> renumbered{sums, g.nodes, place};
          gather(node, renumbered);
          for (const std::int32_t edge : received.of(node)) sums.insert(ends[edge]);
        });
    g.row_ptr = std::move(rows.row_ptr);
    g.neighbour = std::move(rows.col_idx);
  });
  g.halo = plan_halo(comm, g.starts, g.ghosts);
  return g;
}

}  // namespace

std::int64_t NodeGraph::first() const { return starts[rank_of(comm)]; }

void make_symmetric(NodeGraph& g) {
  HostPlace::for_each(g.nodes, SortNeighbours{g.row_ptr.data(), g.neighbour.data()});
  if (is_symmetric(g)) return;
  Array<Edge> edges;  // back, which belong to other ranks
  TransposedPattern back;
  collectively(g.comm, [&] {
    const auto first = static_cast<std::int32_t>(g.first());
    for_crossing_edges(g, [&](std::int32_t node, std::int32_t ghost) {
      edges.push_back({g.ghosts[ghost], first + node});
    });
    back = transposed_pattern(g.columns(), g.row_ptr, g.neighbour);
  });
  g = joined(
      g.comm, std::move(g.starts), g.ghosts, edges,
      GatherBoth{g.row_ptr.data(), g.neighbour.data(), back.row_ptr.data(), back.col_idx.data()});
}

NodeGraph quotient(const NodeGraph& g, std::span<const std::int32_t> part,
                   std::vector<std::int64_t> part_starts) {
  const int rank = rank_of(g.comm);
  const std::int64_t first = part_starts[rank];
  const auto own = static_cast<std::int32_t>(part_starts[rank + 1] - first);
  Array<std::int32_t> others, local_part(part.size());
  std::optional<Members> members;
  Array<Edge> edges;
  const auto gather = [&](std::int64_t local, auto& sums) {
    GatherParts{g.row_ptr.data(), g.neighbour.data(), local_part.data(), members->first.data(),
                members->member.data()}(local, sums);
  };
  collectively(g.comm, [&] {
    others = others_among(part, first, own);
    const LocalNumbers local(first, own, others);
    HostPlace::for_each(std::ssize(part), [&](std::int64_t i) { local_part[i] = local(part[i]); });
    const auto parts = static_cast<std::int32_t>(own + std::ssize(others));
    members.emplace(std::span(local_part).first(g.nodes), parts);
    const CsrMatrix<double> of_others =
        make_rows<1>(parts - own, parts, ColumnOrder::ascending,
                     [&](std::int64_t k, auto& sums) { gather(own + k, sums); });
    for (std::int64_t k = 0; k < of_others.rows; ++k)
      for (std::int32_t e = of_others.row_ptr[k]; e < of_others.row_ptr[k + 1]; ++e) {
        const std::int32_t to = of_others.col_idx[e];
        edges.push_back(
            {others[k], to < own ? static_cast<std::int32_t>(first) + to : others[to - own]});
      }
  });
  return joined(g.comm, std::move(part_starts), others, edges, gather);
}

}  // namespace trireme::multigrid
