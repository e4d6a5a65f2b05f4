// SPDX-License-Identifier: BSD-3-Clause
// Strength of connection: the mask of strong entries and the graph of the nodes.
#include "multigrid/set_up/strength.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "multigrid/set_up/strength_functors.hpp"
#include "parallel/collective.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

double power_of_two_below_inverse(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  return largest > 0 ? std::ldexp(1.0, std::clamp(-exponent, -1020, 1020)) : 1;
}

namespace {

NodeGraph graph_of_rows(const CsrView<double>& a, std::span<const double> diagonal,
                        double threshold, const NodeExchange& ghosts, Array<std::uint8_t>& strong,
                        double& weak) {
  Array<double> scale(a.cols);
  HostPlace::for_each(a.rows, ScaleByDiagonal{diagonal.data(), scale.data()});
  ghosts.fetch(std::span(scale));
  NodeGraph graph;
  graph.nodes = static_cast<std::int32_t>(a.rows);
  graph.row_ptr.resize(a.rows + 1);
  Array<double> largest(threshold > 0 ? a.cols : 0);
  if (threshold > 0) {
    HostPlace::for_each(a.rows, by_one_thread<kLanesOfRow>(
                                    FindLargest{MatrixPointers(a), scale.data(), largest.data()}));
    ghosts.fetch(std::span(largest));
  }
  weak = HostPlace::sum(
      a.rows, by_one_thread<kLanesOfRow>(MarkRow{MatrixPointers(a), scale.data(),
                                                 threshold > 0 ? largest.data() : nullptr,
                                                 threshold, strong.data(), graph.row_ptr.data()}));
  graph.neighbour.resize(HostPlace::sum_exclusively(graph.row_ptr));
  HostPlace::for_each(
      a.rows, by_one_thread<kLanesOfRow>(WriteNeighbours{
                  MatrixPointers(a), strong.data(), graph.row_ptr.data(), graph.neighbour.data()}));
  return graph;
}

NodeGraph graph_of_blocks(const CsrView<double>& a, std::int32_t size, double threshold,
                          const NodeExchange& ghosts, Array<std::uint8_t>& strong, double& weak) {
  const std::int64_t nodes = a.rows / size, columns = a.cols / size;
  const double scale = power_of_two_below_inverse(ghosts.max(
      HostPlace::maximum(a.nnz(), 0.0, [&](std::int64_t k) { return std::abs(a.values[k]); })));
  CsrMatrix<double> norms = make_rows<1>(nodes, columns, ColumnOrder::ascending,
                                         SquaredNorms{MatrixPointers(a), size, scale, false});
  const std::int32_t* const row_ptr = norms.row_ptr.data();
  const std::int32_t* const blocks = norms.col_idx.data();
  double* const norm = norms.values.data();
  Array<double> node_scale(columns), largest(columns);
  NodeGraph graph;
  graph.nodes = static_cast<std::int32_t>(nodes);
  graph.row_ptr.resize(nodes + 1);
  HostPlace::for_each(nodes, TakeRoots{row_ptr, blocks, norm, node_scale.data()});
  ghosts.fetch(std::span(node_scale));
  HostPlace::for_each(nodes,
                      FindLargestBlock{row_ptr, blocks, norm, node_scale.data(), largest.data()});
  ghosts.fetch(std::span(largest));
  HostPlace::for_each(nodes, DropBlocks{row_ptr, blocks, node_scale.data(), largest.data(),
                                        threshold, norm, graph.row_ptr.data()});
  weak = HostPlace::sum(nodes, by_one_thread<kLanesOfRow>(MarkBlocks{
                                   MatrixPointers(a), size, row_ptr, blocks, norm, strong.data()}));
  graph.neighbour.resize(HostPlace::sum_exclusively(graph.row_ptr));
  HostPlace::for_each(nodes, WriteBlockNeighbours{row_ptr, blocks, norm, graph.row_ptr.data(),
                                                  graph.neighbour.data()});
  return graph;
}

}  // namespace

Strength find_strength(const ExtendedRows& a, std::int32_t block_size, double threshold) {
  const CsrView<double> rows = a.view().local;
  const NodeExchange ghosts = a.exchange();
  Array<double> diagonal;
  collectively(a.comm(), [&] { diagonal = checked_diagonal(a.view()); });
  Strength result;
  result.strong.resize(rows.nnz());
  double weak = 0;
  NodeGraph& graph = result.graph;
  graph = block_size == 1
              ? graph_of_rows(rows, diagonal, threshold, ghosts, result.strong, weak)
              : graph_of_blocks(rows, block_size, threshold, ghosts, result.strong, weak);
  graph.comm = a.comm();
  for (const std::int64_t start : a.row_starts()) graph.starts.push_back(start / block_size);
  graph.ghosts = a.ghost_nodes();
  graph.halo = a.halo_of_nodes();
  make_symmetric(graph);
  if (weak == 0) result.strong = {};
  return result;
}

}  // namespace trireme::multigrid
