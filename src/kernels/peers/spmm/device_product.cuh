// SPDX-License-Identifier: BSD-3-Clause
// What all CUDA kernels of the seven products have in common: their operands, the row of a nonzero,
// and the end of a row's sum.
#pragma once

#include <cstdint>

#include "device/multi_vector.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/numeric.cuh"
#include "kernels/peers/spmm/split.hpp"

namespace trireme::spmm {

// Y = A X, or Y += A X where `add`, for at most kTile vectors side by side.
template <class Value>
struct DeviceTile {
  std::int64_t rows, nnz;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const Value* values;
  const Value* x;
  std::int64_t x_stride;
  Value* y;
  std::int64_t y_stride;
  int width;
  bool add;

  // The same product of some of the vectors. Past the last vector, the width is 0.
  __device__ DeviceTile vectors(int first, int count) const {
    DeviceTile some = *this;
    some.x += first;
    some.y += first;
    some.width = max(0, min(count, width - first));
    return some;
  }

  // The entries of X that nonzero k needs, one per vector.
  __device__ const Value* x_of(std::int64_t k) const {
    return x + load<int>(col_idx + k) * x_stride;
  }

  __device__ Value* y_of(std::int64_t row) const { return y + row * y_stride; }

  // The row of nonzero k, which is not before row `from`. Empty rows are never the result.
  __device__ std::int32_t row_of(std::int64_t k, std::int64_t from = 0) const {
    std::int64_t low = from, high = rows;  // row_ptr[low] <= k < row_ptr[high]
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (row_ptr[middle] <= k)
        low = middle;
      else
        high = middle;
    }
    return static_cast<std::int32_t>(low);
  }
};

// sums[j] += nonzero k times its entry of vector j, for all vectors. kVectors is at least the
// width.
template <int kVectors, class Value>
__device__ __forceinline__ void multiply_add(const DeviceTile<Value>& tile, std::int64_t k,
                                             Value (&sums)[kVectors]) {
  const Value value = load<Value>(tile.values + k);
  const Value* x = tile.x_of(k);
#pragma unroll
  for (int j = 0; j < kVectors; ++j)
    if (j < tile.width) sums[j] += value * load<Value>(x + j);
}

// Ends the sums of a whole row.
template <int kVectors, class Value>
__device__ __forceinline__ void store_row(const DeviceTile<Value>& tile, std::int64_t row,
                                          const Value (&sums)[kVectors]) {
  Value* y = tile.y_of(row);
#pragma unroll
  for (int j = 0; j < kVectors; ++j)
    if (j < tile.width) store_or_add(y + j, sums[j], tile.add);
}

}  // namespace trireme::spmm
