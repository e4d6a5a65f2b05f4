// SPDX-License-Identifier: BSD-3-Clause
// Several vectors in one product on CUDA: a group of neighbouring lanes has one row of X or of Y,
// 16 bytes per lane, so that the group reads the row by one wide load.
//
//   8 vectors in FP64, 4 lanes per group, 8 groups per warp:
//
//     row of X    | x0 x1 | x2 x3 | x4 x5 | x6 x7 |
//                   lane 0  lane 1  lane 2  lane 3
//
// A launch multiplies the vectors of one pass: `columns` of them (4, 8, 16 or 32), all there and
// aligned (`whole`), or fewer. Each lane adds up its vectors alone. So a NaN reaches its own vector
// only, and the order of the additions is that of one vector. Vectors in FP32 are summed in FP64.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "device/multi_vector.hpp"
#include "kernels/numeric.cuh"

namespace trireme::vectors {

inline constexpr int kBytesPerLane = 16;

// Y = A X, or Y += A X where `add`, for `width` vectors side by side. The strides are in elements.
template <class Vector>
struct Operands {
  const Vector* x = nullptr;
  Vector* y = nullptr;
  std::int64_t x_stride = 0, y_stride = 0;
  int width = 0;
  bool aligned = false;  // All rows begin at multiples of 16 bytes.
  bool add = false;
  // In FP32 only: null, or one number per row; see CudaKernel::add_diagonal().
  const float* diagonal = nullptr;
};

// The share of one lane in the rows of X and Y.
template <int columns, bool whole, class Vector>
class Lane {
  static_assert(std::is_floating_point_v<Vector>);
  // Where rows are whole, in_passes() has checked that 32 bits hold the strides.
  using Stride = std::conditional_t<whole, std::int32_t, std::int64_t>;

 public:
  static constexpr int kColumns = columns;
  static constexpr int kVectors = kBytesPerLane / sizeof(Vector);  // of one lane
  static constexpr int kLanes = columns / kVectors;                // of one group
  using Number = Sum<Vector>;
  template <class T>
  struct alignas(kBytesPerLane) Numbers {
    T of[kVectors];

    template <class Other>
    __device__ __forceinline__ void add_product(T factor, const Numbers<Other>& others) {
#pragma unroll
      for (int j = 0; j < kVectors; ++j) of[j] += factor * static_cast<T>(others.of[j]);
    }
  };
  using Entries = Numbers<Vector>;
  using Sums = Numbers<Number>;

  __device__ explicit Lane(const Operands<Vector>& all)
      : x_(all.x + first()),
        y_(all.y + first()),
        x_stride_(static_cast<Stride>(all.x_stride)),
        y_stride_(static_cast<Stride>(all.y_stride)),
        count_(whole ? kVectors : all.width - first()),
        wide_(whole || (all.aligned && count_ >= kVectors)),
        add_(all.add),
        diagonal_(all.diagonal) {}

  // The place of the lane's first vector in the pass.
  static __device__ int first() { return static_cast<int>(threadIdx.x % kLanes) * kVectors; }

  __device__ __forceinline__ Entries x_of(std::int32_t column) const {
    return read(x_ + static_cast<std::int64_t>(column) * x_stride_);
  }

  // Ends the sums of a row.
  __device__ __forceinline__ void finish(std::int32_t row, Sums sums) const {
    if constexpr (std::is_same_v<Vector, float>)
      if (diagonal_) sums.add_product(load<Number>(diagonal_ + row), x_of(row));
    Vector* y = y_ + static_cast<std::int64_t>(row) * y_stride_;
    if (add_) {
      const Entries before = read(y);
#pragma unroll
      for (int j = 0; j < kVectors; ++j) sums.of[j] += static_cast<Number>(before.of[j]);
    }
    Entries result;
#pragma unroll
    for (int j = 0; j < kVectors; ++j) result.of[j] = static_cast<Vector>(sums.of[j]);
    if (wide_) {
      float4 word;
      memcpy(&word, &result, sizeof(word));
      __stcs(reinterpret_cast<float4*>(y), word);
    } else {
#pragma unroll
      for (int j = 0; j < kVectors; ++j)
        if (j < count_) y[j] = result.of[j];
    }
  }

 private:
  __device__ __forceinline__ Entries read(const Vector* row) const {
    Entries entries{};
    if (wide_) {
      const float4 word = __ldg(reinterpret_cast<const float4*>(row));
      memcpy(&entries, &word, sizeof(word));
    } else {
#pragma unroll
      for (int j = 0; j < kVectors; ++j)
        if (j < count_) entries.of[j] = __ldg(row + j);
    }
    return entries;
  }

  const Vector* x_;
  Vector* y_;
  Stride x_stride_, y_stride_;
  // The vectors from the lane's first one on; none where it is not positive. It is not cut off at
  // 0, because ptxas 13.0 for sm_90 then computes wide_ wrongly (VIMNMX.RELU: true where count_ is
  // 0).
  int count_;
  bool wide_;  // The lane has all its vectors, and they are aligned.
  bool add_;
  const float* diagonal_;
};

// Adds the sums of all groups of the warp, in a tree. Every group returns the same bits.
template <class Lane>
__device__ __forceinline__ typename Lane::Sums sum_of_groups(typename Lane::Sums sums,
                                                             int lanes = 32) {
  for (int offset = Lane::kLanes; offset < lanes; offset *= 2)
#pragma unroll
    for (int j = 0; j < Lane::kVectors; ++j)
      sums.of[j] += __shfl_xor_sync(0xffffffffu, sums.of[j], offset);
  return sums;
}

// Calls launch(lane, operands) for one pass after the other, where `lane` is a Lane type as a
// std::type_identity. Vectors of one pass lie side by side in `operands`. The passes are for 32,
// 16, 8 or, where that is `fewest`, 4 vectors. `diagonal` is that of Operands.
template <class Vector, int fewest = 8, class Launch>
void in_passes(const DeviceMultiVector<const Vector>& x, const DeviceMultiVector<Vector>& y,
               bool add, DeviceSpan<const float> diagonal, const Launch& launch) {
  const auto fits = [](const void* data, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(data) % kBytesPerLane == 0 &&
           stride * static_cast<std::int64_t>(sizeof(Vector)) % kBytesPerLane == 0 &&
           stride <= std::numeric_limits<std::int32_t>::max();
  };
  const bool aligned = fits(x.data, x.row_stride) && fits(y.data, y.row_stride);
  std::int64_t first = 0;
  const auto pass = [&]<int columns, bool whole>() {
    const std::int64_t width = std::min<std::int64_t>(columns, x.width - first);
    launch(std::type_identity<Lane<columns, whole, Vector>>{},
           Operands<Vector>{x.data + first, y.data + first, x.row_stride, y.row_stride,
                            static_cast<int>(width), aligned, add, diagonal.data()});
    first += width;
  };
  while (first < x.width) {
    const std::int64_t left = x.width - first;
    if (aligned && left >= 32)
      pass.template operator()<32, true>();
    else if (aligned && (left == 16 || left == 24))
      pass.template operator()<16, true>();
    else if (fewest == 4 && aligned && left == 4)
      pass.template operator()<fewest, true>();
    else if (fewest == 4 && left <= 4)
      pass.template operator()<fewest, false>();
    else if (aligned && left == 8)
      pass.template operator()<8, true>();
    else if (left > 8)
      pass.template operator()<32, false>();
    else
      pass.template operator()<8, false>();
  }
}

}  // namespace trireme::vectors
