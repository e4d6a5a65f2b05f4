// SPDX-License-Identifier: BSD-3-Clause
// Strength of connection on a GPU, by the functors of strength_functors.hpp and
// node_graph_functors.hpp.
#include <utility>

#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/cuda/node_graph.cuh"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/row_checks_functors.hpp"
#include "multigrid/set_up/strength_functors.hpp"

namespace trireme::multigrid {
namespace {

// The number of rows from an unfit row to the end, or 0 for a fit one.
struct UnfitRow {
  ReadDiagonal read;
  std::int64_t rows;
  __device__ std::int64_t operator()(std::int64_t i) const { return read(i) ? rows - i : 0; }
};

struct UnorderedRow {
  MatrixPointers a;
  __device__ bool operator()(std::int64_t i) const {
    for (std::int32_t k = a.row_ptr[i] + 1; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k - 1] >= a.col_idx[k]) return true;
    return false;
  }
};

struct Modulus {
  const double* values;
  __device__ double operator()(std::int64_t k) const { return std::abs(values[k]); }
};

struct Found {
  DeviceGraph graph;
  std::int64_t weak;
};

Found graph_of_rows(const DeviceCsr<double>& a, const ScratchBuffer<double>& diagonal,
                    double threshold, std::uint8_t* strong, const CudaPlace& place,
                    const DeviceGhosts& ghosts) {
  const MatrixPointers entries(a);
  const auto scale = place.array<double>(a.cols);
  place.for_each(a.rows, ScaleByDiagonal{diagonal.data(), scale.data()});
  ghosts.fetch(scale.data());
  const auto largest = place.array<double>(threshold > 0 ? a.cols : 0);
  if (threshold > 0) {
    place.for_each(a.rows * kLanesOfRow,
                   by_lanes<kLanesOfRow>(FindLargest{entries, scale.data(), largest.data()}));
    ghosts.fetch(largest.data());
  }
  Found found{{static_cast<std::int32_t>(a.rows), place.array<std::int32_t>(a.rows + 1), {}}, 0};
  DeviceGraph& graph = found.graph;
  found.weak = place.count(a.rows * kLanesOfRow,
                           by_lanes<kLanesOfRow>(MarkRow{entries, scale.data(), largest.data(),
                                                         threshold, strong, graph.row_ptr.data()}));
  graph.neighbour = place.array<std::int32_t>(place.sum_exclusively(graph.row_ptr.span()));
  place.for_each(a.rows * kLanesOfRow,
                 by_lanes<kLanesOfRow>(WriteNeighbours{entries, strong, graph.row_ptr.data(),
                                                       graph.neighbour.data()}));
  return found;
}

Found graph_of_blocks(const DeviceCsr<double>& a, std::int32_t size, double threshold,
                      std::uint8_t* strong, const CudaPlace& place, const DeviceGhosts& ghosts) {
  const MatrixPointers entries(a);
  const std::int64_t nodes = a.rows / size, columns = a.cols / size;
  const double scale =
      power_of_two_below_inverse(ghosts.max(place.maximum(a.nnz, 0.0, Modulus{a.values.data()})));
  const bool ascending = place.count(a.rows, UnorderedRow{entries}) == 0;
  const DeviceRows norms =
      DeviceRowMaker(place).make<1>(nodes, columns, SquaredNorms{entries, size, scale, ascending});
  const std::int32_t* const row_ptr = norms.row_ptr.data();
  const std::int32_t* const blocks = norms.col_idx.data();
  double* const norm = norms.values.data();
  const auto node_scale = place.array<double>(columns), largest = place.array<double>(columns);
  Found found{{static_cast<std::int32_t>(nodes), place.array<std::int32_t>(nodes + 1), {}}, 0};
  DeviceGraph& graph = found.graph;
  place.for_each(nodes, TakeRoots{row_ptr, blocks, norm, node_scale.data()});
  ghosts.fetch(node_scale.data());
  place.for_each(nodes, FindLargestBlock{row_ptr, blocks, norm, node_scale.data(), largest.data()});
  ghosts.fetch(largest.data());
  place.for_each(nodes, DropBlocks{row_ptr, blocks, node_scale.data(), largest.data(), threshold,
                                   norm, graph.row_ptr.data()});
  found.weak =
      place.count(nodes * kLanesOfRow,
                  by_lanes<kLanesOfRow>(MarkBlocks{entries, size, row_ptr, blocks, norm, strong}));
  graph.neighbour = place.array<std::int32_t>(place.sum_exclusively(graph.row_ptr.span()));
  place.for_each(nodes, WriteBlockNeighbours{row_ptr, blocks, norm, graph.row_ptr.data(),
                                             graph.neighbour.data()});
  return found;
}

}  // namespace

ScratchBuffer<double> checked_diagonal(const DeviceCsr<double>& a, StreamRef stream,
                                       const RankOfRows& rank) {
  const CudaPlace place(stream);
  ScratchBuffer<double> diagonal = place.array<double>(a.rows);
  const ReadDiagonal read{a.row_ptr.data(), a.col_idx.data(), a.values.data(), diagonal.data()};
  const std::int64_t behind = place.maximum(a.rows, std::int64_t{0}, UnfitRow{read, a.rows});
  if (behind > 0)
    refuse_row(rank.callers_row(a.rows - behind),
               read_back(diagonal.data() + (a.rows - behind), stream));
  return diagonal;
}

DeviceStrength find_strength(const DeviceCsr<double>& a, std::int32_t block_size, double threshold,
                             StreamRef stream, const RankOfRows& rank) {
  const CudaPlace place(stream);
  const DeviceGhosts none;
  const DeviceGhosts& ghosts = rank.alone() ? none : *rank.ghosts;
  ScratchBuffer<std::uint8_t> strong = place.array<std::uint8_t>(a.nnz);
  ScratchBuffer<double> diagonal = checked_diagonal(a, stream, rank);
  Found found = block_size == 1
                    ? graph_of_rows(a, diagonal, threshold, strong.data(), place, ghosts)
                    : graph_of_blocks(a, block_size, threshold, strong.data(), place, ghosts);
  if (rank.alone()) make_symmetric(found.graph, place);
  if (found.weak == 0) strong = {};
  return {std::move(found.graph), std::move(strong), std::move(diagonal)};
}

}  // namespace trireme::multigrid
