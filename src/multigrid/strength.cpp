// SPDX-License-Identifier: BSD-3-Clause
// Strength of connection: the mask of strong entries and the graph of the nodes.
#include "multigrid/strength.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "multigrid/host_place.hpp"
#include "multigrid/make_rows.hpp"
#include "multigrid/row_checks.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

struct Entries {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;

  explicit Entries(const CsrView<double>& a)
      : row_ptr(a.row_ptr.data()), col_idx(a.col_idx.data()), values(a.values.data()) {}
};

// Nodes of one row: the maximum of s_ij over j != i.
struct FindLargest {
  Entries a;
  const double* scale;  // 1 / sqrt |a_ii|
  double* largest;

  TRIREME_HD void operator()(std::int64_t i) const {
    double most = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col_idx[k];
      if (j != i) most = std::fmax(most, std::abs(a.values[k]) * scale[i] * scale[j]);
    }
    largest[i] = most;
  }
};

// Nodes of one row. Marks the strong entries, counts the neighbours, and returns the number of
// weak entries.
struct MarkRow {
  Entries a;
  const double* scale;    // 1 / sqrt |a_ii|
  const double* largest;  // of FindLargest; null where the threshold is 0
  double threshold;
  std::uint8_t* strong;
  std::int32_t* neighbours;

  TRIREME_HD double operator()(std::int64_t i) const {
    std::int32_t count = 0, weak = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col_idx[k];
      const bool own = j == i;
      const double least = largest ? threshold * std::fmin(largest[i], largest[j]) : 0;
      const bool keeps = own || std::abs(a.values[k]) * scale[i] * scale[j] > least;
      strong[k] = keeps;
      weak += !keeps;
      count += keeps && !own;
    }
    neighbours[i] = count;
    return weak;
  }
};

struct WriteNeighbours {
  Entries a;
  const std::uint8_t* strong;
  const std::int32_t* row_ptr;
  std::int32_t* neighbour;

  TRIREME_HD void operator()(std::int64_t i) const {
    std::int32_t at = row_ptr[i];
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (strong[k] && a.col_idx[k] != i) neighbour[at++] = a.col_idx[k];
  }
};

// Calls visit(k, block) for each entry k of a node. Entries of a block mostly follow each other.
template <class Visit>
TRIREME_HD void for_entries_of_node(const Entries& a, std::int32_t size, std::int64_t node,
                                    const Visit& visit) {
  std::int32_t block = -1, first = 0, end = 0;
  for (std::int32_t k = a.row_ptr[node * size]; k < a.row_ptr[(node + 1) * size]; ++k) {
    const std::int32_t column = a.col_idx[k];
    if (column < first || column >= end) {
      block = column / size;
      first = block * size;
      end = first + size;
    }
    visit(k, block);
  }
}

// Adds up the squared Frobenius norms of the blocks of a node. The values are scaled before they are
// squared.
struct SquaredNorms {
  Entries a;
  std::int32_t size;
  double scale;

  template <class Sums>
  TRIREME_HD void operator()(std::int64_t node, Sums& sums) const {
    std::int32_t last = -1;
    double sum = 0;
    for_entries_of_node(a, size, node, [&](std::int32_t k, std::int32_t block) {
      if (block != last) {
        if (last >= 0) *sums.at(last) += sum;
        last = block;
        sum = 0;
      }
      const double value = a.values[k] * scale;
      sum += value * value;
    });
    if (last >= 0) *sums.at(last) += sum;
  }
};

// Takes the roots of the norms, and the scale of the node: 1 / sqrt |A_II|, or 0 where the block
// is 0.
struct TakeRoots {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  double* norm;
  double* node_scale;

  TRIREME_HD void operator()(std::int64_t node) const {
    node_scale[node] = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      norm[k] = std::sqrt(norm[k]);
      if (col_idx[k] == node && norm[k] > 0) node_scale[node] = 1 / std::sqrt(norm[k]);
    }
  }
};

// Nodes of several rows: the maximum of s_IJ over J != I.
struct FindLargestBlock {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* norm;
  const double* node_scale;
  double* largest;

  TRIREME_HD void operator()(std::int64_t node) const {
    double most = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      if (col_idx[k] != node)
        most = std::fmax(most, norm[k] * node_scale[node] * node_scale[col_idx[k]]);
    largest[node] = most;
  }
};

// Makes the norms of weak blocks 0, and counts the neighbours of a node.
struct DropBlocks {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* node_scale;
  const double* largest;
  double threshold;
  double* norm;
  std::int32_t* neighbours;

  TRIREME_HD void operator()(std::int64_t node) const {
    std::int32_t kept = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const std::int32_t block = col_idx[k];
      if (block == node) continue;
      if (norm[k] * node_scale[node] * node_scale[block] >
          threshold * std::fmin(largest[node], largest[block]))
        ++kept;
      else
        norm[k] = 0;
    }
    neighbours[node] = kept;
  }
};

// Marks the entries of strong blocks. Returns the number of weak entries.
struct MarkBlocks {
  Entries a;
  std::int32_t size;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* norm;
  std::uint8_t* strong;

  TRIREME_HD double operator()(std::int64_t node) const {
    std::int32_t weak = 0, last = -1;
    bool keeps = true;
    for_entries_of_node(a, size, node, [&](std::int32_t k, std::int32_t block) {
      if (block != last) {
        keeps = block == node || norm[place(node, block)] > 0;
        last = block;
      }
      strong[k] = keeps;
      weak += !keeps;
    });
    return weak;
  }
  TRIREME_HD std::int32_t place(std::int64_t node, std::int32_t block) const {
    std::int32_t low = row_ptr[node], high = row_ptr[node + 1];
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      (col_idx[middle] <= block ? low : high) = middle;
    }
    return low;
  }
};

struct MarkOutside {
  const std::int32_t* row_ptr;
  const double* values;
  std::int32_t size;
  std::uint8_t* connected;

  TRIREME_HD void operator()(std::int64_t node) const {
    std::uint8_t is = 0;
    for (std::int64_t i = node * size; i < (node + 1) * size; ++i)
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) is |= values[k] != 0;
    connected[node] = is;
  }
};

double power_of_two_below_inverse(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  return largest > 0 ? std::ldexp(1.0, std::clamp(-exponent, -1020, 1020)) : 1;
}

NodeGraph graph_of_rows(const CsrView<double>& a, std::span<const double> diagonal,
                        double threshold, const NodeExchange& ghosts, Array<std::uint8_t>& strong,
                        double& weak) {
  Array<double> scale(a.cols);
  HostPlace::for_each(a.rows,
                      [&](std::int64_t i) { scale[i] = 1 / std::sqrt(std::abs(diagonal[i])); });
  ghosts.fetch(std::span(scale));
  NodeGraph graph;
  graph.nodes = static_cast<std::int32_t>(a.rows);
  graph.ghosts = static_cast<std::int32_t>(a.cols - a.rows);
  graph.row_ptr.resize(a.rows + 1);
  Array<double> largest(threshold > 0 ? a.cols : 0);
  if (threshold > 0) {
    HostPlace::for_each(a.rows, FindLargest{Entries(a), scale.data(), largest.data()});
    ghosts.fetch(std::span(largest));
  }
  weak = HostPlace::sum(
      a.rows, MarkRow{Entries(a), scale.data(), threshold > 0 ? largest.data() : nullptr, threshold,
                      strong.data(), graph.row_ptr.data()});
  graph.neighbour.resize(HostPlace::sum_exclusively(graph.row_ptr));
  HostPlace::for_each(a.rows, WriteNeighbours{Entries(a), strong.data(), graph.row_ptr.data(),
                                              graph.neighbour.data()});
  return graph;
}

NodeGraph graph_of_blocks(const CsrView<double>& a, std::int32_t size, double threshold,
                          const NodeExchange& ghosts, Array<std::uint8_t>& strong, double& weak) {
  const std::int64_t nodes = a.rows / size, columns = a.cols / size;
  const double scale = power_of_two_below_inverse(ghosts.max(
      HostPlace::maximum(a.nnz(), 0.0, [&](std::int64_t k) { return std::abs(a.values[k]); })));
  CsrMatrix<double> norms =
      make_rows<1>(nodes, columns, ColumnOrder::ascending, SquaredNorms{Entries(a), size, scale});
  const std::int32_t* const row_ptr = norms.row_ptr.data();
  const std::int32_t* const blocks = norms.col_idx.data();
  double* const norm = norms.values.data();
  Array<double> node_scale(columns), largest(columns);
  NodeGraph graph;
  graph.nodes = static_cast<std::int32_t>(nodes);
  graph.ghosts = static_cast<std::int32_t>(columns - nodes);
  graph.row_ptr.resize(nodes + 1);
  HostPlace::for_each(nodes, TakeRoots{row_ptr, blocks, norm, node_scale.data()});
  ghosts.fetch(std::span(node_scale));
  HostPlace::for_each(nodes,
                      FindLargestBlock{row_ptr, blocks, norm, node_scale.data(), largest.data()});
  ghosts.fetch(std::span(largest));
  HostPlace::for_each(nodes, DropBlocks{row_ptr, blocks, node_scale.data(), largest.data(),
                                        threshold, norm, graph.row_ptr.data()});
  weak = HostPlace::sum(nodes, MarkBlocks{Entries(a), size, row_ptr, blocks, norm, strong.data()});
  graph.neighbour.resize(HostPlace::sum_exclusively(graph.row_ptr));
  HostPlace::for_each(nodes, [&](std::int64_t node) {
    std::int32_t at = graph.row_ptr[node];
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      if (blocks[k] != node && norm[k] > 0) graph.neighbour[at++] = blocks[k];
  });
  return graph;
}

}  // namespace

Strength find_strength(const LocalRows& a, std::int32_t block_size, double threshold,
                       const NodeExchange& ghosts) {
  const Array<double> diagonal = checked_diagonal(a);
  Strength result;
  result.strong.resize(a.local.nnz());
  double weak = 0;
  result.graph = block_size == 1
                     ? graph_of_rows(a.local, diagonal, threshold, ghosts, result.strong, weak)
                     : graph_of_blocks(a.local, block_size, threshold, ghosts, result.strong, weak);
  if (ghosts.alone())
    make_symmetric(result.graph);
  else
    sort_neighbours(result.graph);
  if (weak == 0) result.strong = {};
  if (a.ghost.nnz() > 0) {
    result.connected_outside.resize(result.graph.nodes);
    HostPlace::for_each(result.graph.nodes,
                        MarkOutside{a.ghost.row_ptr.data(), a.ghost.values.data(), block_size,
                                    result.connected_outside.data()});
  }
  return result;
}

}  // namespace trireme::multigrid
