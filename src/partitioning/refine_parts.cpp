// SPDX-License-Identifier: BSD-3-Clause
// Passes over the vertices at borders, which are looked for anew every few passes.
#include "partitioning/refine_parts.hpp"

#include <algorithm>
#include <vector>

#include "base/array.hpp"
#include "parallel/collective.hpp"

namespace trireme::partitioning {
namespace {

constexpr int kSearches = 3;  // for the vertices at borders
constexpr int kPasses = 4;    // after each of them

// The weights of the edges of one vertex by part.
class Connections {
 public:
  explicit Connections(int parts) : weight_(parts, 0) {}

  void find(const WeightedGraph& g, std::span<const std::int32_t> part, std::int32_t vertex) {
    for (const std::int32_t p : met_) weight_[p] = 0;
    met_.clear();
    const multigrid::NodeGraph& graph = g.graph;
    for (std::int32_t k = graph.row_ptr[vertex]; k < graph.row_ptr[vertex + 1]; ++k) {
      const std::int32_t p = part[graph.neighbour[k]];
      if (weight_[p] == 0) met_.push_back(p);
      weight_[p] += g.edge_weight(k);
    }
  }
  std::span<const std::int32_t> parts() const { return met_; }
  std::int64_t weight(std::int32_t p) const { return weight_[p]; }

 private:
  std::vector<std::int64_t> weight_;
  std::vector<std::int32_t> met_;
};

Array<std::int32_t> at_borders(const WeightedGraph& g, std::span<const std::int32_t> part) {
  const multigrid::NodeGraph& graph = g.graph;
  Array<std::int32_t> found;
  for (std::int32_t v = 0; v < graph.nodes; ++v)
    for (std::int32_t k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k)
      if (part[graph.neighbour[k]] != part[v]) {
        found.push_back(v);
        break;
      }
  return found;
}

}  // namespace

void refine_parts(const WeightedGraph& g, int parts, std::int64_t max_weight,
                  std::span<std::int32_t> part) {
  const MPI_Comm comm = g.graph.comm;
  const int ranks = size_of(comm);
  std::vector<std::int64_t> sums(parts, 0), change(parts), room(parts);
  for (std::int32_t v = 0; v < g.vertices(); ++v) sums[part[v]] += g.weights[v];
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), parts, MPI_INT64_T, MPI_SUM, comm);
  Connections connections(parts);

  // One pass over `vertices`; returns how many of all ranks have moved.
  const auto pass = [&](const Array<std::int32_t>& vertices, bool up) {
    std::ranges::fill(change, 0);
    // What the ranks may give a part together.
    for (int p = 0; p < parts; ++p)
      room[p] = std::max<std::int64_t>(0, max_weight - sums[p]) / ranks;
    std::int64_t moves = 0;
    for (const std::int32_t v : vertices) {
      const std::int32_t from = part[v];
      connections.find(g, part, v);
      std::int32_t to = -1;
      for (const std::int32_t p : connections.parts()) {
        if (p == from || (p > from) != up || room[p] < g.weights[v]) continue;
        if (to < 0 || connections.weight(p) > connections.weight(to) ||
            (connections.weight(p) == connections.weight(to) && p < to))
          to = p;
      }
      if (to < 0) continue;
      const std::int64_t gain = connections.weight(to) - connections.weight(from);
      const bool balances = sums[from] + change[from] > sums[to] + change[to] + g.weights[v];
      if (gain < 0 || (gain == 0 && !balances)) continue;
      part[v] = to;
      room[to] -= g.weights[v];
      change[to] += g.weights[v];
      change[from] -= g.weights[v];
      ++moves;
    }
    g.graph.exchange().fetch(part);
    MPI_Allreduce(MPI_IN_PLACE, change.data(), parts, MPI_INT64_T, MPI_SUM, comm);
    for (int p = 0; p < parts; ++p) sums[p] += change[p];
    return sum_over_ranks(comm, moves);
  };

  for (int search = 0; search < kSearches; ++search) {
    const Array<std::int32_t> vertices = at_borders(g, part);
    std::int64_t moves = 0;
    for (int k = 0; k < kPasses; ++k) moves += pass(vertices, k % 2 == 0);
    if (moves == 0) break;
  }
}

}  // namespace trireme::partitioning
