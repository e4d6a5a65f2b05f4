// SPDX-License-Identifier: BSD-3-Clause
// Products A B whose rows come in nodes: `size` consecutive rows of A have the same columns, and rows
// of B consist of runs of kWidth. The pattern is found once per node. For the numbers, a warp reads
// each row of B once for all rows of the node, 1 / size of the bytes that row after row would read.
#pragma once

#include <cstdint>

#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/product_row.hpp"

namespace trireme::multigrid {

inline constexpr std::int32_t kMaxRowsOfNode = 6;

namespace node_kernels {

inline constexpr int kThreads = 64, kWarps = kThreads / 32;

// The functor of the first row of each node.
template <int kWidth>
struct FirstRow {
  static constexpr bool kScattered = true;
  ProductRow<kWidth> row;
  std::int32_t size;

  template <class Sums>
  __device__ void operator()(std::int64_t node, Sums& sums) const {
    row(node * size, sums);
  }
  __device__ std::int64_t terms(std::int64_t node) const { return row.terms(node * size); }
};

// Gives each row of a node the columns of the first one.
static __global__ void repeat_rows(std::int64_t nodes, std::int32_t size,
                                   const std::int32_t* node_ptr, const std::int32_t* node_columns,
                                   std::int32_t* row_ptr, std::int32_t* col_idx) {
  const std::int64_t node = row_kernels::group_number<32>();
  if (node >= nodes) return;
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const std::int32_t from = node_ptr[node], length = node_ptr[node + 1] - from;
  for (std::int32_t r = lane; r < size; r += 32)
    row_ptr[node * size + r] = from * size + r * length;
  if (node + 1 == nodes && lane == 0) row_ptr[nodes * size] = (from + length) * size;
  for (std::int32_t k = lane; k < length; k += 32) {
    const std::int32_t column = node_columns[from + k];
    for (std::int32_t r = 0; r < size; ++r) col_idx[from * size + r * length + k] = column;
  }
}

// Sums of the nodes with more than `least` and up to kCapacity runs per row, a warp per node.
template <int kWidth, int kCapacity>
__global__ void __launch_bounds__(kThreads)
    node_sums(std::int64_t nodes, std::int32_t size, std::int32_t least, const MatrixPointers a,
              const MatrixPointers b, const std::int32_t* row_ptr, const std::int32_t* col_idx,
              double* values) {
  extern __shared__ double numbers[];
  const std::int64_t node = row_kernels::group_number<32>();
  if (node >= nodes) return;
  const std::int32_t first = row_ptr[node * size], length = row_ptr[node * size + 1] - first;
  const std::int32_t count = length / kWidth;
  if (count <= least || count > kCapacity) return;
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const auto warp = static_cast<std::int32_t>(threadIdx.x / 32);
  double* const sums = numbers + warp * size * (kCapacity * kWidth + 32);
  double* const factors = sums + size * kCapacity * kWidth;
  auto* const columns =
      reinterpret_cast<std::int32_t*>(numbers + kWarps * size * (kCapacity * kWidth + 32)) +
      warp * kCapacity;
  for (std::int32_t k = lane; k < count; k += 32) columns[k] = col_idx[first + k * kWidth] / kWidth;
  for (std::int32_t k = lane; k < size * length; k += 32) sums[k] = 0;
  const std::int32_t a_first = a.row_ptr[node * size];
  const std::int32_t a_length = a.row_ptr[node * size + 1] - a_first;
  for (std::int32_t base = 0; base < a_length; base += 32) {
    const std::int32_t k = base + lane, entries = a_length - base < 32 ? a_length - base : 32;
    std::int32_t own_first = 0, own_end = 0;
    __syncwarp();  // The factors have been used.
    if (k < a_length) {
      const std::int32_t j = a.col_idx[a_first + k];
      own_first = b.row_ptr[j];
      own_end = b.row_ptr[j + 1];
      for (std::int32_t r = 0; r < size; ++r)
        factors[r * 32 + lane] = a.values[a_first + r * a_length + k];
    }
    __syncwarp();
    std::int32_t next_column = 0;
    double next_value = 0;
    const auto read = [&](std::int32_t l, std::int32_t end) {
      if (l >= end) return;
      next_column = b.col_idx[l];
      next_value = b.values[l];
    };
    const auto from = [](std::int32_t value, std::int32_t of) {
      return __shfl_sync(0xffffffffu, value, of);
    };
    read(from(own_first, 0) + lane, from(own_end, 0));
    for (std::int32_t entry = 0; entry < entries; ++entry) {
      const std::int32_t end = from(own_end, entry);
      std::int32_t l = from(own_first, entry) + lane, column = next_column;
      double value = next_value;
      if (entry + 1 < entries) read(from(own_first, entry + 1) + lane, from(own_end, entry + 1));
      while (l < end) {
        const std::int32_t run = column / kWidth;
        std::int32_t low = 0, high = count;
        while (high - low > 1) {
          const std::int32_t middle = low + (high - low) / 2;
          (columns[middle] <= run ? low : high) = middle;
        }
        double* const sum = sums + low * kWidth + (column - run * kWidth);
        for (std::int32_t r = 0; r < size; ++r) sum[r * length] += factors[r * 32 + entry] * value;
        l += 32;
        if (l < end) {
          column = b.col_idx[l];
          value = b.values[l];
        }
      }
      __syncwarp();  // Two entries of a row may lead to the same columns.
    }
  }
  for (std::int32_t k = lane; k < size * length; k += 32) values[first + k] = sums[k];
}

// Sums of the nodes with more than `least` runs per row, in global memory.
template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    large_node_sums(std::int64_t nodes, std::int32_t size, std::int32_t least,
                    const ProductRow<kWidth> row, const std::int32_t* row_ptr,
                    const std::int32_t* col_idx, double* values) {
  const std::int64_t node = row_kernels::group_number<32>();
  if (node >= nodes) return;
  if ((row_ptr[node * size + 1] - row_ptr[node * size]) / kWidth <= least) return;
  const row_kernels::CudaGroup<32> group;
  for (std::int64_t i = node * size; i < (node + 1) * size; ++i)
    row_kernels::sum_in_place<kWidth>(row, i, group, row_ptr, col_idx, values);
}

inline unsigned blocks_for(std::int64_t nodes) {
  return static_cast<unsigned>((nodes + kWarps - 1) / kWarps);
}

}  // namespace node_kernels

template <int kWidth>
DeviceRows make_node_pattern(const ProductRow<kWidth>& row, std::int64_t rows, std::int64_t cols,
                             std::int32_t size, const CudaPlace& place) {
  using namespace node_kernels;
  const std::int64_t nodes = rows / size;
  const DeviceRows pattern =
      DeviceRowMaker(place).make_pattern<kWidth>(nodes, cols, FirstRow<kWidth>{row, size});
  check_nonzeros(pattern.nnz() * size);
  DeviceRows matrix{rows,
                    cols,
                    place.array<std::int32_t>(rows + 1),
                    place.array<std::int32_t>(pattern.nnz() * size),
                    {}};
  repeat_rows<<<node_kernels::blocks_for(nodes), node_kernels::kThreads, 0, place.stream()>>>(
      nodes, size, pattern.row_ptr.data(), pattern.col_idx.data(), matrix.row_ptr.data(),
      matrix.col_idx.data());
  check_launch();
  return matrix;
}

template <int kWidth>
void fill_nodes(DeviceRows& matrix, const ProductRow<kWidth>& row, std::int32_t size,
                const CudaPlace& place) {
  using namespace node_kernels;
  if (matrix.nnz() == 0) return;
  constexpr int kFewRuns = 32, kMoreRuns = 64;
  const std::int64_t nodes = matrix.rows / size;
  const unsigned blocks = node_kernels::blocks_for(nodes);
  const std::int32_t* const row_ptr = matrix.row_ptr.data();
  const std::int32_t* const col_idx = matrix.col_idx.data();
  double* const values = matrix.values.data();
  const auto bytes = [&](int capacity) {
    return kWarps *
           (size * (capacity * kWidth + 32) * sizeof(double) + capacity * sizeof(std::int32_t));
  };
  node_sums<kWidth, kFewRuns><<<blocks, node_kernels::kThreads, bytes(kFewRuns), place.stream()>>>(
      nodes, size, 0, row.a, row.b, row_ptr, col_idx, values);
  check_launch();
  node_sums<kWidth, kMoreRuns>
      <<<blocks, node_kernels::kThreads, bytes(kMoreRuns), place.stream()>>>(
          nodes, size, kFewRuns, row.a, row.b, row_ptr, col_idx, values);
  check_launch();
  large_node_sums<<<blocks, node_kernels::kThreads, 0, place.stream()>>>(
      nodes, size, kMoreRuns, row, row_ptr, col_idx, values);
  check_launch();
}

}  // namespace trireme::multigrid
