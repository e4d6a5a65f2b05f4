// SPDX-License-Identifier: BSD-3-Clause
// Products A B whose rows come in nodes: `size` consecutive rows of A have the same columns, and
// rows of B consist of runs of kWidth. The pattern is found once per node. For the numbers, a warp
// reads each row of B once for several rows of the node.
#pragma once

#include <cstdint>

#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/set_up/product_row.hpp"

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

// Where the runs of a row are, by open addressing. At most half of the places are taken.
template <int kCapacity>
struct RunTable {
  static constexpr int kPlaces = 2 * kCapacity;
  int2* places;  // a run, and its number in the row

  __device__ static std::uint32_t hash(std::int32_t run) {
    return static_cast<std::uint32_t>(run) * 0x9e3779b1u >> 7;
  }
  // By a warp.
  __device__ void fill(const std::int32_t* columns, std::int32_t width, std::int32_t count,
                       std::int32_t lane) const {
    for (std::int32_t k = lane; k < kPlaces; k += 32) places[k].x = kNoColumn;
    __syncwarp();
    for (std::int32_t k = lane; k < count; k += 32) {
      const std::int32_t run = columns[k * width] / width;
      std::uint32_t place = hash(run) % kPlaces;
      while (atomicCAS(&places[place].x, kNoColumn, run) != kNoColumn)
        place = (place + 1) % kPlaces;
      places[place].y = k;
    }
    __syncwarp();
  }
  __device__ std::int32_t number_of(std::int32_t run) const {
    std::uint32_t place = hash(run) % kPlaces;
    int2 found = places[place];
    while (found.x != run) {
      place = (place + 1) % kPlaces;
      found = places[place];
    }
    return found.y;
  }
};

template <int kWidth, int kCapacity, int kRows>
constexpr std::size_t bytes_of_warp() {
  return kRows * (kCapacity * kWidth + 32) * sizeof(double) +
         RunTable<kCapacity>::kPlaces * sizeof(int2);
}

// Sums of the nodes with more than `least` and up to kCapacity runs per row. A warp takes kRows
// rows of a node, whose size is a multiple of that.
template <int kWidth, int kCapacity, int kRows>
__global__ void __launch_bounds__(kThreads)
    node_sums(std::int64_t nodes, std::int32_t size, std::int32_t least, const MatrixPointers a,
              const MatrixPointers b, const std::int32_t* row_ptr, const std::int32_t* col_idx,
              double* values) {
  extern __shared__ char memory[];
  const std::int64_t first_row = row_kernels::group_number<32>() * kRows;
  if (first_row >= nodes * size) return;
  const std::int32_t first = row_ptr[first_row], length = row_ptr[first_row + 1] - first;
  const std::int32_t count = length / kWidth;
  if (count <= least || count > kCapacity) return;
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  char* const own = memory + threadIdx.x / 32 * bytes_of_warp<kWidth, kCapacity, kRows>();
  const RunTable<kCapacity> table{reinterpret_cast<int2*>(own)};
  auto* const sums = reinterpret_cast<double*>(table.places + RunTable<kCapacity>::kPlaces);
  double* const factors = sums + kRows * kCapacity * kWidth;
  table.fill(col_idx + first, kWidth, count, lane);
  for (std::int32_t k = lane; k < kRows * length; k += 32) sums[k] = 0;
  const std::int32_t a_first = a.row_ptr[first_row];
  const std::int32_t a_length = a.row_ptr[first_row + 1] - a_first;
  for (std::int32_t base = 0; base < a_length; base += 32) {
    const std::int32_t k = base + lane, entries = a_length - base < 32 ? a_length - base : 32;
    std::int32_t own_first = 0, own_end = 0;
    __syncwarp();  // The factors have been used.
    if (k < a_length) {
      const std::int32_t j = a.col_idx[a_first + k];
      own_first = b.row_ptr[j];
      own_end = b.row_ptr[j + 1];
#pragma unroll
      for (int r = 0; r < kRows; ++r) factors[r * 32 + lane] = a.values[a_first + r * a_length + k];
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
      const std::int32_t begin = from(own_first, entry), end = from(own_end, entry);
      const std::int32_t next_begin = from(own_first, (entry + 1) % 32);
      const std::int32_t next_end = entry + 1 < entries ? from(own_end, (entry + 1) % 32) : 0;
      double factor[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) factor[r] = factors[r * 32 + entry];
      for (std::int32_t l = begin + lane; l - lane < end; l += 32) {
        const std::int32_t column = next_column;
        const double value = next_value;
        // The rest of this row of B, or the next one.
        if (l - lane + 32 < end)
          read(l + 32, end);
        else
          read(next_begin + lane, next_end);
        if (l >= end) continue;
        const std::int32_t run = column / kWidth;
        double* const sum = sums + table.number_of(run) * kWidth + (column - run * kWidth);
        double all[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) all[r] = sum[r * length];
#pragma unroll
        for (int r = 0; r < kRows; ++r) sum[r * length] = all[r] + factor[r] * value;
      }
      if (begin >= end) read(next_begin + lane, next_end);
      __syncwarp();  // Two entries of a row may lead to the same columns.
    }
  }
  for (std::int32_t k = lane; k < kRows * length; k += 32) values[first + k] = sums[k];
}

template <int kWidth, int kCapacity, int kRows>
void enqueue_node_sums(const DeviceRows& matrix, double* values, const ProductRow<kWidth>& row,
                       std::int32_t size, std::int32_t least, StreamRef stream) {
  const auto blocks = static_cast<unsigned>((matrix.rows / kRows + kWarps - 1) / kWarps);
  node_sums<kWidth, kCapacity, kRows>
      <<<blocks, kThreads, kWarps * bytes_of_warp<kWidth, kCapacity, kRows>(), stream>>>(
          matrix.rows / size, size, least, row.a, row.b, matrix.row_ptr.data(),
          matrix.col_idx.data(), values);
  check_launch();
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
  constexpr int kFewRuns = 64, kMoreRuns = 256;
  constexpr std::int64_t kManyNodes = 4096;  // which keep a GPU busy without a warp for each row
  const StreamRef stream = place.stream();
  const std::int64_t nodes = matrix.rows / size;
  double* const values = matrix.values.data();
  if (size % 3 == 0 && nodes >= kManyNodes) {
    enqueue_node_sums<kWidth, kFewRuns / 2, 3>(matrix, values, row, size, 0, stream);
    enqueue_node_sums<kWidth, kFewRuns, 1>(matrix, values, row, size, kFewRuns / 2, stream);
  } else if (size % 2 == 0 && 2 * nodes >= kManyNodes) {
    enqueue_node_sums<kWidth, kFewRuns, 2>(matrix, values, row, size, 0, stream);
  } else {
    enqueue_node_sums<kWidth, kFewRuns, 1>(matrix, values, row, size, 0, stream);
  }
  enqueue_node_sums<kWidth, kMoreRuns, 1>(matrix, values, row, size, kFewRuns, stream);
  large_node_sums<<<node_kernels::blocks_for(nodes), node_kernels::kThreads, 0, stream>>>(
      nodes, size, kMoreRuns, row, matrix.row_ptr.data(), matrix.col_idx.data(), values);
  check_launch();
}

}  // namespace trireme::multigrid
