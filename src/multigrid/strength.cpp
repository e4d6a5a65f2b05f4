// SPDX-License-Identifier: BSD-3-Clause
// Strength of connection: the mask of strong entries and the graph of the nodes.
#include "multigrid/strength.hpp"

#include <algorithm>
#include <cmath>

#include "multigrid/host_place.hpp"
#include "multigrid/row_checks.hpp"
#include "multigrid/sparse_product.hpp"
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

// Nodes of several rows: the blocks of a node are members of the set.
template <class Set>
TRIREME_HD void gather_blocks(const Entries& a, std::int32_t size, std::int64_t node, Set& set) {
  for (std::int32_t k = a.row_ptr[node * size]; k < a.row_ptr[(node + 1) * size]; ++k)
    set.insert(a.col_idx[k] / size);
}

struct CountBlocks {
  Entries a;
  std::int32_t size;
  std::int32_t* count;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    gather_blocks(a, size, node, set);
    count[node] = set.size();
    set.clear();
  }
};

struct WriteBlocks {
  Entries a;
  std::int32_t size;
  const std::int32_t* row_ptr;
  std::int32_t* col_idx;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    gather_blocks(a, size, node, set);
    set.take_ascending(col_idx + row_ptr[node]);
  }
};

// Frobenius norms of the blocks of a node. The values are scaled before they are squared. A norm of
// 0 among them makes the scale of the node 0.
struct BlockNorms {
  Entries a;
  std::int32_t size;
  double scale;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  double* norm;
  double* node_scale;  // 1 / sqrt |A_II|, 0 where the block is 0

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    const std::int32_t begin = row_ptr[node], count = row_ptr[node + 1] - begin;
    set.number(col_idx + begin, count);
    for (std::int32_t k = 0; k < count; ++k) norm[begin + k] = 0;
    for (std::int32_t k = a.row_ptr[node * size]; k < a.row_ptr[(node + 1) * size]; ++k) {
      const double value = a.values[k] * scale;
      norm[begin + set.place(a.col_idx[k] / size)] += value * value;
    }
    node_scale[node] = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      norm[begin + k] = std::sqrt(norm[begin + k]);
      if (col_idx[begin + k] == node && norm[begin + k] > 0)
        node_scale[node] = 1 / std::sqrt(norm[begin + k]);
    }
    set.forget(col_idx + begin, count);
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

// Marks the entries of strong blocks. Weak blocks get the number -1 in place of their column.
struct MarkBlocks {
  Entries a;
  std::int32_t size;
  double threshold;
  const std::int32_t* row_ptr;
  std::int32_t* col_idx;
  const double* norm;
  const double* node_scale;
  const double* largest;
  std::uint8_t* strong;
  std::int32_t* neighbours;
  double* weak;  // entries per node

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    const std::int32_t begin = row_ptr[node], count = row_ptr[node + 1] - begin;
    set.number(col_idx + begin, count);
    std::int32_t weak_entries = 0;
    for (std::int32_t k = a.row_ptr[node * size]; k < a.row_ptr[(node + 1) * size]; ++k) {
      const std::int32_t block = a.col_idx[k] / size;
      strong[k] = keeps(node, block, norm[begin + set.place(block)]);
      weak_entries += !strong[k];
    }
    set.forget(col_idx + begin, count);
    std::int32_t kept = 0;
    for (std::int32_t k = begin; k < begin + count; ++k) {
      const std::int32_t block = col_idx[k];
      const bool is_neighbour = block != node && keeps(node, block, norm[k]);
      kept += is_neighbour;
      if (!is_neighbour) col_idx[k] = -1;
    }
    neighbours[node] = kept;
    weak[node] = weak_entries;
  }
  TRIREME_HD bool keeps(std::int64_t node, std::int32_t block, double block_norm) const {
    return block == node || block_norm * node_scale[node] * node_scale[block] >
                                threshold * std::fmin(largest[node], largest[block]);
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
                        double threshold, Array<std::uint8_t>& strong, double& weak) {
  Array<double> scale(a.rows);
  HostPlace::for_each(a.rows,
                      [&](std::int64_t i) { scale[i] = 1 / std::sqrt(std::abs(diagonal[i])); });
  NodeGraph graph;
  graph.nodes = static_cast<std::int32_t>(a.rows);
  graph.row_ptr.resize(a.rows + 1);
  Array<double> largest(threshold > 0 ? a.rows : 0);
  if (threshold > 0)
    HostPlace::for_each(a.rows, FindLargest{Entries(a), scale.data(), largest.data()});
  weak = HostPlace::sum(
      a.rows, MarkRow{Entries(a), scale.data(), threshold > 0 ? largest.data() : nullptr, threshold,
                      strong.data(), graph.row_ptr.data()});
  graph.neighbour.resize(HostPlace::sum_exclusively(graph.row_ptr));
  HostPlace::for_each(a.rows, WriteNeighbours{Entries(a), strong.data(), graph.row_ptr.data(),
                                              graph.neighbour.data()});
  return graph;
}

NodeGraph graph_of_blocks(const CsrView<double>& a, std::int32_t size, double threshold,
                          Array<std::uint8_t>& strong, double& weak) {
  const std::int64_t nodes = a.rows / size;
  const double scale = power_of_two_below_inverse(
      HostPlace::maximum(a.nnz(), 0.0, [&](std::int64_t k) { return std::abs(a.values[k]); }));
  Array<std::int32_t> row_ptr(nodes + 1);
  HostPlace::for_each_with_set(nodes, nodes, CountBlocks{Entries(a), size, row_ptr.data()});
  Array<std::int32_t> blocks(HostPlace::sum_exclusively(row_ptr));
  Array<double> norms(blocks.size()), node_scale(nodes), largest(nodes), weak_entries(nodes);
  NodeGraph graph;
  graph.nodes = static_cast<std::int32_t>(nodes);
  graph.row_ptr.resize(nodes + 1);
  HostPlace::for_each_with_set(nodes, nodes,
                               WriteBlocks{Entries(a), size, row_ptr.data(), blocks.data()});
  HostPlace::for_each_with_set(nodes, nodes,
                               BlockNorms{Entries(a), size, scale, row_ptr.data(), blocks.data(),
                                          norms.data(), node_scale.data()});
  HostPlace::for_each(nodes, FindLargestBlock{row_ptr.data(), blocks.data(), norms.data(),
                                              node_scale.data(), largest.data()});
  HostPlace::for_each_with_set(
      nodes, nodes,
      MarkBlocks{Entries(a), size, threshold, row_ptr.data(), blocks.data(), norms.data(),
                 node_scale.data(), largest.data(), strong.data(), graph.row_ptr.data(),
                 weak_entries.data()});
  weak = HostPlace::sum(nodes, [&](std::int64_t node) { return weak_entries[node]; });
  graph.neighbour.resize(HostPlace::sum_exclusively(graph.row_ptr));
  HostPlace::for_each(nodes, [&](std::int64_t node) {
    std::int32_t at = graph.row_ptr[node];
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      if (blocks[k] >= 0) graph.neighbour[at++] = blocks[k];
  });
  return graph;
}

}  // namespace

Strength find_strength(const LocalRows& a, std::int32_t block_size, double threshold) {
  const Array<double> diagonal = checked_diagonal(a);
  Strength result;
  result.strong.resize(a.local.nnz());
  double weak = 0;
  result.graph = block_size == 1
                     ? graph_of_rows(a.local, diagonal, threshold, result.strong, weak)
                     : graph_of_blocks(a.local, block_size, threshold, result.strong, weak);
  make_symmetric(result.graph);
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
