// SPDX-License-Identifier: BSD-3-Clause
// On a GPU, where the parts of rows go that a thread or warp (a unit) does not begin.
//
// A unit stores the sum of a row that begins among its nonzeros. The first part of a unit may
// belong to a row that began earlier: it is a head, and waits in shared memory. When all units of a
// block are done, the heads of a row are added in the order of the units; the sum goes to y where
// the block owns the row, and to the block's carry otherwise (block_sums.hpp has the drawing). No
// atomics are needed, and every run gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/peers/spmm/device_product.cuh"

namespace trireme::spmm {

// The heads of one block, in dynamic shared memory. kVectors is a power of two and at least the
// width of the tile.
template <int kUnits, int kVectors, class Value>
class Heads {
  static constexpr int kStride = kVectors | 1;  // odd, so that neighbours lie in different banks
  static constexpr std::int32_t kNone = -1;

 public:
  static constexpr std::size_t kBytes = kUnits * (kStride * sizeof(Value) + sizeof(std::int32_t));

  __device__ explicit Heads(unsigned char* shared)
      : sums_(reinterpret_cast<Value*>(shared)),
        rows_(reinterpret_cast<std::int32_t*>(sums_ + kUnits * kStride)) {}

  // Every unit calls one of these two once, or both in this order, before add().
  __device__ void clear(int unit) { rows_[unit] = kNone; }
  __device__ void set_row(int unit, std::int32_t row) { rows_[unit] = row; }

  __device__ Value& sum(int unit, int vector) { return sums_[unit * kStride + vector]; }

  // Every thread of the block calls it. `carry` has one element per vector.
  __device__ void add(const DeviceTile<Value>& tile, std::int64_t block_begin, Value* carry) {
    __syncthreads();  // The heads are there, and so is what the units have stored in y.
    const int j = threadIdx.x % kVectors;
    if (j >= tile.width) return;
    for (int unit = threadIdx.x / kVectors; unit < kUnits; unit += kThreads / kVectors) {
      const std::int32_t row = rows_[unit];
      if (row == kNone || (unit > 0 && rows_[unit - 1] == row)) continue;
      Value total = sum(unit, j);
      for (int next = unit + 1; next < kUnits && rows_[next] == row; ++next) total += sum(next, j);
      if (tile.row_ptr[row] >= block_begin)
        tile.y_of(row)[j] += total;
      else
        carry[j] = total;
    }
  }

 private:
  Value* sums_;
  std::int32_t* rows_;  // kNone where the unit has no head
};

// Adds the carries of all blocks to Y. Grid: a warp per block but the first one. The warp that
// meets the first carry of a row adds all carries of that row, lane j for vector j.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    add_carries(DeviceTile<Value> tile, std::int64_t block_size, const Value* carries) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t begin = (1 + thread / kLanes) * block_size;
  const int lane = threadIdx.x % kLanes;
  if (begin >= tile.nnz || lane >= tile.width) return;
  const std::int64_t row = tile.row_of(begin);
  const std::int64_t row_begin = tile.row_ptr[row], row_end = tile.row_ptr[row + 1];
  const bool cut = row_begin < begin, first_carry = row_begin >= begin - block_size;
  if (!cut || !first_carry) return;
  Value total{};
#pragma unroll 4
  for (std::int64_t b = begin / block_size; b * block_size < row_end; ++b)
    total += carries[b * kTile + lane];
  tile.y_of(row)[lane] += total;
}

// No block owns a row without nonzeros. Grid: a thread per row.
template <class Value>
__global__ void __launch_bounds__(kThreads) clear_empty_rows(DeviceTile<Value> tile) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= tile.rows || tile.row_ptr[row] != tile.row_ptr[row + 1]) return;
  for (int j = 0; j < tile.width; ++j) tile.y_of(row)[j] = Value{};
}

}  // namespace trireme::spmm
