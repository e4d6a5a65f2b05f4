// SPDX-License-Identifier: BSD-3-Clause
// The functors that find strong connections (strength.hpp).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "multigrid/set_up/product_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// The power of two that brings numbers of up to this modulus below 1; 1 for 0.
double power_of_two_below_inverse(double largest);

// scale[i] = 1 / sqrt |a_ii|
struct ScaleByDiagonal {
  const double* diagonal;
  double* scale;

  TRIREME_HD void operator()(std::int64_t i) const {
    scale[i] = 1 / std::sqrt(std::abs(diagonal[i]));
  }
};

// Nodes of one row: the maximum of s_ij over j != i. The functors of rows are for groups of lanes
// (one_thread.hpp).
struct FindLargest {
  MatrixPointers a;
  const double* scale;  // 1 / sqrt |a_ii|
  double* largest;

  template <class Group>
  TRIREME_HD void operator()(std::int64_t i, const Group& group) const {
    double most = 0;
    for (std::int32_t k = a.row_ptr[i] + group.rank(); k < a.row_ptr[i + 1]; k += group.size()) {
      const std::int32_t j = a.col_idx[k];
      if (j != i) most = std::fmax(most, std::abs(a.values[k]) * scale[i] * scale[j]);
    }
    most = group.maximum(most);
    if (group.rank() == 0) largest[i] = most;
  }
};

// Nodes of one row. Marks the strong entries, counts the neighbours, and returns the number of the
// lane's weak entries.
struct MarkRow {
  MatrixPointers a;
  const double* scale;    // 1 / sqrt |a_ii|
  const double* largest;  // of FindLargest; null where the threshold is 0
  double threshold;
  std::uint8_t* strong;
  std::int32_t* neighbours;

  template <class Group>
  TRIREME_HD double operator()(std::int64_t i, const Group& group) const {
    std::int32_t count = 0, weak = 0;
    for (std::int32_t k = a.row_ptr[i] + group.rank(); k < a.row_ptr[i + 1]; k += group.size()) {
      const std::int32_t j = a.col_idx[k];
      const bool own = j == i;
      const double least = largest ? threshold * std::fmin(largest[i], largest[j]) : 0;
      const bool keeps = own || std::abs(a.values[k]) * scale[i] * scale[j] > least;
      strong[k] = keeps;
      weak += !keeps;
      count += keeps && !own;
    }
    count = group.sum(count);
    if (group.rank() == 0) neighbours[i] = count;
    return weak;
  }
};

struct WriteNeighbours {
  MatrixPointers a;
  const std::uint8_t* strong;
  const std::int32_t* row_ptr;
  std::int32_t* neighbour;

  template <class Group>
  TRIREME_HD void operator()(std::int64_t i, const Group& group) const {
    const std::uint32_t lanes_before = (1u << static_cast<unsigned>(group.rank())) - 1;
    std::int32_t at = row_ptr[i];
    for (std::int32_t base = a.row_ptr[i]; base < a.row_ptr[i + 1]; base += group.size()) {
      const std::int32_t k = base + group.rank();
      const bool takes = k < a.row_ptr[i + 1] && strong[k] && a.col_idx[k] != i;
      const std::uint32_t all = group.ballot(takes);
      if (takes) neighbour[at + std::popcount(all & lanes_before)] = a.col_idx[k];
      at += std::popcount(all);
    }
  }
};

// Calls visit(k, block) for each entry k of a node, or for those of one lane. Entries of a block
// mostly follow each other.
template <class Group, class Visit>
TRIREME_HD void for_entries_of_node(const MatrixPointers& a, std::int32_t size, std::int64_t node,
                                    const Group& group, const Visit& visit) {
  std::int32_t block = -1, first = 0, end = 0;
  for (std::int32_t k = a.row_ptr[node * size] + group.rank(); k < a.row_ptr[(node + 1) * size];
       k += group.size()) {
    const std::int32_t column = a.col_idx[k];
    if (column < first || column >= end) {
      block = column / size;
      first = block * size;
      end = first + size;
    }
    visit(k, block);
  }
}

// Adds up the squared Frobenius norms of the blocks of a node. The values are scaled before they
// are squared.
struct SquaredNorms {
  static constexpr bool kOwners = false;
  MatrixPointers a;
  std::int32_t size;
  double scale;
  bool ascending;  // whether the columns of each row are known to ascend

  // Entries of a row that follow each other and lie in one block are added up first.
  template <class Sums>
  TRIREME_HD void operator()(std::int64_t node, Sums& sums) const {
    const bool shared = !Sums::kOrdered || ascending;  // no block comes twice in a row
    const std::int32_t lane = sums.lane(), lanes = shared ? sums.lanes() : 1;
    for (std::int64_t i = node * size; i < (node + 1) * size; ++i) {
      const std::int32_t first = a.row_ptr[i], end = a.row_ptr[i + 1];
      if (lane < lanes)
        for (std::int32_t k = first + lane; k < end; k += lanes) {
          const std::int32_t block = a.col_idx[k] / size;
          if (k > first && a.col_idx[k - 1] / size == block) continue;
          if constexpr (!Sums::kOrdered)
            sums.insert(block);
          else
            *sums.at(block) += squares(k, end, block);
        }
      sums.next();
    }
  }
  // The sum from entry k to the end of the block.
  TRIREME_HD double squares(std::int32_t k, std::int32_t end, std::int32_t block) const {
    double sum = 0;
    for (; k < end && a.col_idx[k] / size == block; ++k) {
      const double value = a.values[k] * scale;
      sum += value * value;
    }
    return sum;
  }
  TRIREME_HD std::int64_t terms(std::int64_t node) const {
    return a.row_ptr[(node + 1) * size] - a.row_ptr[node * size];
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

// Marks the entries of strong blocks. Returns the number of the lane's weak entries.
struct MarkBlocks {
  MatrixPointers a;
  std::int32_t size;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* norm;
  std::uint8_t* strong;

  template <class Group>
  TRIREME_HD double operator()(std::int64_t node, const Group& group) const {
    std::int32_t weak = 0, last = -1;
    bool keeps = true;
    for_entries_of_node(a, size, node, group, [&](std::int32_t k, std::int32_t block) {
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

// Nodes of several rows: writes the neighbours of a node.
struct WriteBlockNeighbours {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* norm;  // 0 where a block is weak
  const std::int32_t* graph_row_ptr;
  std::int32_t* neighbour;

  TRIREME_HD void operator()(std::int64_t node) const {
    std::int32_t at = graph_row_ptr[node];
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      if (col_idx[k] != node && norm[k] > 0) neighbour[at++] = col_idx[k];
  }
};

}  // namespace trireme::multigrid
