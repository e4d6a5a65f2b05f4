// SPDX-License-Identifier: BSD-3-Clause
// Edges between nodes of different ranks, which travel to the ranks of their nodes. All other edges
// stay where they are.
#include "multigrid/ranks/rank_graph.hpp"

#include <optional>
#include <type_traits>
#include <utility>

#include "base/split_mix.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/ranks/send_to_ranks.hpp"
#include "multigrid/set_up/graph_of_sets.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/node_graph_functors.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "parallel/collective.hpp"
#include "parallel/secret_numbers.hpp"

namespace trireme::multigrid {
namespace {

// From a node of one rank to a node of another one, by global numbers.
struct Edge {
  std::int32_t from, to;
};

// Whether each edge has one back. An edge and the one back have the same hash, of which one is
// added and the other subtracted, so that sums of edges without a partner are 0 with a probability
// of 2^-64.
bool is_symmetric(const RankGraph& g) {
  const auto first = static_cast<std::uint64_t>(g.first());
  const NodeGraph& graph = g.graph;
  const std::uint64_t key = secret_number(g.comm);
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int32_t node = 0; node < graph.nodes; ++node) {
    const std::uint64_t own = first + static_cast<std::uint64_t>(node);
    for (std::int32_t k = graph.row_ptr[node]; k < graph.row_ptr[node + 1]; ++k) {
      const std::int32_t to = graph.neighbour[k];
      const std::uint64_t other = to < graph.nodes
                                      ? first + static_cast<std::uint64_t>(to)
                                      : static_cast<std::uint64_t>(g.ghosts[to - graph.nodes]);
      const bool ascends = own < other;
      const std::uint64_t hash = mix_bits((ascends ? own << 32 ^ other : other << 32 ^ own) + key);
      sum += ascends ? hash : -hash;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, g.comm);
  return sum == 0;
}

// The edges that other ranks have for this rank's nodes, by node. Edges go to the owners of `from`.
class EdgesOfOthers {
 public:
  // Collective.
  EdgesOfOthers(MPI_Comm comm, std::span<const std::int64_t> starts, const Array<Edge>& edges) {
    std::vector<int> owners;
    for (const Edge& edge : edges) owners.push_back(owner_of(starts, edge.from));
    const Array<Edge> received = send_to_ranks<Edge>(comm, edges, 1, owners).values;
    const auto first = static_cast<std::int32_t>(starts[rank_of(comm)]);
    const auto nodes = static_cast<std::int32_t>(starts[rank_of(comm) + 1]) - first;
    Array<std::int32_t> from;
    for (const Edge& edge : received) {
      from.push_back(edge.from - first);
      to_.push_back(edge.to);
    }
    by_node_.emplace(from, nodes);
  }

  const Array<std::int32_t>& to() const { return to_; }
  // The numbers of a node's edges in to().
  std::span<const std::int32_t> of(std::int64_t node) const {
    const std::int32_t begin = by_node_->first[node];
    return std::span(by_node_->member).subspan(begin, by_node_->first[node + 1] - begin);
  }

 private:
  Array<std::int32_t> to_;
  std::optional<Members> by_node_;
};

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
RankGraph joined(MPI_Comm comm, std::vector<std::int64_t> starts, const Array<std::int32_t>& others,
                 const Array<Edge>& edges, const Gather& gather) {
  RankGraph g{.comm = comm, .starts = std::move(starts), .ghosts{}, .halo{}, .graph{}};
  const EdgesOfOthers received(comm, g.starts, edges);
  const std::int64_t first = g.first();
  const auto nodes = static_cast<std::int32_t>(g.starts[rank_of(comm) + 1] - first);
  collectively(comm, [&] {
    Array<std::int32_t> ends = received.to();
    ends.insert(ends.end(), others.begin(), others.end());
    g.ghosts = others_among(ends, first, nodes);
    const LocalNumbers local(first, nodes, g.ghosts);
    for (std::int32_t& end : ends) end = local(end);
    const std::int32_t* const place = ends.data() + received.to().size();
    g.graph =
        graph_of_sets(nodes, nodes + std::ssize(g.ghosts), [&](std::int64_t node, auto& sums) {
          Renumbered<std::remove_reference_t<decltype(sums)>> renumbered{sums, nodes, place};
          gather(node, renumbered);
          for (const std::int32_t edge : received.of(node)) sums.insert(ends[edge]);
        });
  });
  g.halo = plan_halo(comm, g.starts, g.ghosts);
  return g;
}

// The edges back that belong to other ranks.
Array<Edge> edges_of_ghosts(const RankGraph& g) {
  Array<Edge> edges;
  const auto first = static_cast<std::int32_t>(g.first());
  for (std::int32_t node = 0; node < g.graph.nodes; ++node)
    for (std::int32_t k = g.graph.row_ptr[node]; k < g.graph.row_ptr[node + 1]; ++k)
      if (g.graph.neighbour[k] >= g.graph.nodes)
        edges.push_back({g.ghosts[g.graph.neighbour[k] - g.graph.nodes], first + node});
  return edges;
}

}  // namespace

std::int64_t RankGraph::first() const { return starts[rank_of(comm)]; }

void make_symmetric(RankGraph& g) {
  if (is_symmetric(g)) return;
  Array<Edge> edges;
  TransposedPattern back;
  collectively(g.comm, [&] {
    edges = edges_of_ghosts(g);
    back = transposed_pattern(g.graph.nodes + g.graph.ghosts, g.graph.row_ptr, g.graph.neighbour);
  });
  g = joined(g.comm, std::move(g.starts), g.ghosts, edges,
             GatherBoth{g.graph.row_ptr.data(), g.graph.neighbour.data(), back.row_ptr.data(),
                        back.col_idx.data()});
}

RankGraph quotient(const RankGraph& g, std::span<const std::int32_t> part,
                   std::vector<std::int64_t> part_starts) {
  const int rank = rank_of(g.comm);
  const std::int64_t first = part_starts[rank];
  const auto own = static_cast<std::int32_t>(part_starts[rank + 1] - first);
  Array<std::int32_t> others, local_part(part.size());
  std::optional<Members> members;
  Array<Edge> edges;
  const auto gather = [&](std::int64_t local, auto& sums) {
    GatherParts{g.graph.row_ptr.data(), g.graph.neighbour.data(), local_part.data(),
                members->first.data(), members->member.data()}(local, sums);
  };
  collectively(g.comm, [&] {
    others = others_among(part, first, own);
    const LocalNumbers local(first, own, others);
    HostPlace::for_each(std::ssize(part), [&](std::int64_t i) { local_part[i] = local(part[i]); });
    const auto parts = static_cast<std::int32_t>(own + std::ssize(others));
    members.emplace(std::span(local_part).first(g.graph.nodes), parts);
    const NodeGraph of_others = graph_of_sets(
        parts - own, parts, [&](std::int64_t k, auto& sums) { gather(own + k, sums); });
    for (std::int32_t k = 0; k < of_others.nodes; ++k)
      for (std::int32_t e = of_others.row_ptr[k]; e < of_others.row_ptr[k + 1]; ++e) {
        const std::int32_t to = of_others.neighbour[e];
        edges.push_back(
            {others[k], to < own ? static_cast<std::int32_t>(first) + to : others[to - own]});
      }
  });
  return joined(g.comm, std::move(part_starts), others, edges, gather);
}

}  // namespace trireme::multigrid
