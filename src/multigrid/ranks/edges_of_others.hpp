// SPDX-License-Identifier: BSD-3-Clause
// Edges of a graph that travel to the ranks of their nodes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "multigrid/ranks/send_to_ranks.hpp"
#include "multigrid/set_up/members.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

// From a node of one rank to a node of another one, by global numbers.
struct Edge {
  std::int32_t from, to;
};

// The edges that other ranks have for this rank's nodes, by node. Edges go to the owners of `from`.
class EdgesOfOthers {
 public:
  // Rank r has the nodes starts[r] .. starts[r+1]-1. Collective.
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
  // The numbers of the nodes' edges in to().
  const Members& by_node() const { return *by_node_; }
  // Those of one node.
  std::span<const std::int32_t> of(std::int64_t node) const {
    const std::int32_t begin = by_node_->first[node];
    return std::span(by_node_->member).subspan(begin, by_node_->first[node + 1] - begin);
  }

 private:
  Array<std::int32_t> to_;
  std::optional<Members> by_node_;
};

}  // namespace trireme::multigrid
