// SPDX-License-Identifier: BSD-3-Clause
// The incidence matrix of a directed graph: one row per edge, with -1 in the column of the node
// where the edge begins and 1 in that of the node where it ends. The graph is the grid of n^3 nodes
// in which neighbours along each axis have an edge of random direction. The edges along x come
// first, then those along y and z, each in the order of their smaller nodes.
#include <array>

#include "sparse/counter_random.hpp"
#include "sparse/row_source.hpp"

namespace trireme {
namespace {

class IncidenceRows final : public RowSource {
 public:
  IncidenceRows(std::int64_t n, std::uint64_t seed) : n_(n), seed_(seed) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    for (const std::int64_t node : nodes_of(row)) columns.push_back(node);
  }
  void fill_values(std::int64_t row, std::span<const std::int64_t>, double* values) const override {
    const bool forward = CounterRandom(seed_, Purpose::values, row).chance(0.5);
    values[0] = forward ? -1 : 1;
    values[1] = -values[0];
  }

 private:
  // The smaller and the larger node of an edge.
  std::array<std::int64_t, 2> nodes_of(std::int64_t row) const {
    const std::int64_t per_axis = n_ * n_ * (n_ - 1);
    const std::int64_t axis = row / per_axis, edge = row % per_axis;
    const std::int64_t step = axis == 0 ? 1 : axis == 1 ? n_ : n_ * n_;  // between the two nodes
    // Of each n * step consecutive nodes, the last `step` have no neighbour along the axis.
    const std::int64_t lines = edge / (step * (n_ - 1));
    const std::int64_t node = edge + lines * step;
    return {node, node + step};
  }

  std::int64_t n_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<RowSource> make_incidence(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<IncidenceRows>(spec.n, spec.seed);
}

}  // namespace trireme
