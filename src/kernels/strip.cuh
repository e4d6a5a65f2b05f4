// SPDX-License-Identifier: BSD-3-Clause
// A strip is the vectors of a product that one walk through the matrix takes: 8, 16 or 32 vectors
// side by side. A few lanes of a warp, which we call a group, hold one row of a strip:
//
//   FP64    8 vectors   groups of 4 lanes   one load of 16 bytes per lane: 64 bytes per row
//          16 vectors   groups of 8 lanes   one load: 128 bytes, a cache line
//          32 vectors   groups of 8 lanes   two loads of a cache line each
//
//   vector   0  1   2  3  ..  14 15 | 16 17  18 19  ..  30 31
//   lane     0  0   1  1  ..   7  7 |  0  0   1  1  ..   7  7
//            first load             |  second load
//
// A row of 16 or 32 vectors is thus read in whole cache lines.
//
// Where fewer vectors exist than the strip has, or where the memory is not aligned for loads of
// several vectors, a lane loads single vectors and tests each of them: no element that is not of an
// existing vector is read or written. A strip has the same sums in the same order either way.
// Vectors in FP32 are summed in FP64.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/block_sum.cuh"
#include "device/multi_vector.hpp"
#include "kernels/kernel.hpp"
#include "kernels/numeric.cuh"

namespace trireme {

namespace strip {
// Loads and stores of n neighbouring numbers.
__device__ __forceinline__ void read(const double* from, double (&to)[1]) { to[0] = __ldg(from); }
__device__ __forceinline__ void read(const float* from, float (&to)[1]) { to[0] = __ldg(from); }
__device__ __forceinline__ void read(const double* from, double (&to)[2]) {
  const double2 v = __ldg(reinterpret_cast<const double2*>(from));
  to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void read(const float* from, float (&to)[2]) {
  const float2 v = __ldg(reinterpret_cast<const float2*>(from));
  to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void read(const float* from, float (&to)[4]) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
// Adds what is in memory.
template <class Value, class Number, int n>
__device__ __forceinline__ void read_and_add(const Value* from, Number (&to)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) to[i] += static_cast<Number>(from[i]);
}
// Y is written once. It is the first to be evicted from the caches, so that X stays there.
__device__ __forceinline__ void write(double* to, const double (&from)[1]) { __stcs(to, from[0]); }
__device__ __forceinline__ void write(float* to, const float (&from)[1]) { __stcs(to, from[0]); }
__device__ __forceinline__ void write(double* to, const double (&from)[2]) {
  __stcs(reinterpret_cast<double2*>(to), make_double2(from[0], from[1]));
}
__device__ __forceinline__ void write(float* to, const float (&from)[2]) {
  __stcs(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
}
__device__ __forceinline__ void write(float* to, const float (&from)[4]) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
}
}  // namespace strip

// `width` vectors of X and Y, of which `vectors` exist. Where `whole`, all of them exist and the
// memory is aligned for wide loads.
template <class Value, int width, bool whole>
struct Strip {
  using Vector = Value;
  using Stride = std::conditional_t<whole, std::uint32_t, std::uint64_t>;
  static constexpr int kWidth = width;
  static constexpr int kLanes = width == 8 ? 4 : 8;  // per group
  static constexpr int kGroups = 32 / kLanes;        // per warp
  static constexpr int kEach = width / kLanes;       // vectors per lane
  static constexpr int kChunk =                      // vectors per load
      whole ? std::min<int>(kEach, 16 / sizeof(Value)) : 1;
  using Number = Sum<Value>;
  using Sums = Number[kEach];
  using Entries = Value[kEach];

  const Value* __restrict__ x;
  Value* __restrict__ y;
  Stride x_stride, y_stride;  // bytes from one row to the next
  std::int32_t vectors;
  bool add;
  const float* diagonal;  // in FP32 only: null, or see CudaKernel::add_diagonal()

  // The first of the kChunk vectors of load number `load`, for lane `member` of a group.
  static __device__ __forceinline__ int vector(int member, int load) {
    return (load * kLanes + member) * kChunk;
  }
  __device__ __forceinline__ bool exists(int vector) const { return whole || vector < vectors; }

  // Where the lane's part of row 0 of X is, and that of row `row` from there on. A product keeps
  // the former in registers, so that an address is one multiplication and addition.
  __device__ __forceinline__ const char* lane_of_x(int member) const {
    return reinterpret_cast<const char*>(x + member * kChunk);
  }
  __device__ __forceinline__ const char* row_of_x(const char* lane, std::uint32_t row) const {
    return lane + static_cast<std::uint64_t>(row) * x_stride;
  }
  // Loads the lane's part of a row of X, or zeros where `wanted` is false.
  __device__ __forceinline__ void gather(const char* row, int member, Entries& to,
                                         bool wanted = true) const {
    const auto* from = reinterpret_cast<const Value*>(row);
#pragma unroll
    for (int load = 0; load < kEach / kChunk; ++load) {
      Value part[kChunk] = {};
      if (wanted && exists(vector(member, load))) strip::read(from + vector(0, load), part);
#pragma unroll
      for (int i = 0; i < kChunk; ++i) to[load * kChunk + i] = part[i];
    }
  }
  // Stores or adds the lane's part of row `row` of Y. A negative row does not exist.
  __device__ __forceinline__ void put(std::int32_t row, int member, const Sums& sums) const {
    if (row < 0) return;
    [[maybe_unused]] Number factor = 0;
    [[maybe_unused]] Entries of_diagonal = {};
    if constexpr (std::is_same_v<Value, float>)
      if (diagonal) {
        factor = load<Number>(diagonal + row);
        gather(row_of_x(lane_of_x(member), row), member, of_diagonal);
      }
    auto* to = reinterpret_cast<Value*>(reinterpret_cast<char*>(y + member * kChunk) +
                                        static_cast<std::uint64_t>(row) * y_stride);
#pragma unroll
    for (int load = 0; load < kEach / kChunk; ++load) {
      if (!exists(vector(member, load))) continue;
      Number part[kChunk];
      Value result[kChunk];
#pragma unroll
      for (int i = 0; i < kChunk; ++i) part[i] = sums[load * kChunk + i];
      if constexpr (std::is_same_v<Value, float>)
#pragma unroll
        for (int i = 0; i < kChunk; ++i)
          part[i] += factor * static_cast<Number>(of_diagonal[load * kChunk + i]);
      if (add) strip::read_and_add(to + vector(0, load), part);
#pragma unroll
      for (int i = 0; i < kChunk; ++i) result[i] = static_cast<Value>(part[i]);
      strip::write(to + vector(0, load), result);
    }
  }
};

// Adds up the sums of `groups` neighbouring groups; every lane gets the result.
template <class Strip>
__device__ __forceinline__ void add_over_groups(typename Strip::Sums& sums,
                                                int groups = Strip::kGroups) {
#pragma unroll
  for (int i = 0; i < Strip::kEach; ++i)
    for (int offset = Strip::kLanes; offset < groups * Strip::kLanes; offset *= 2)
      sums[i] += __shfl_xor_sync(kFullWarp, sums[i], offset);
}

namespace detail {
template <class Strip, class Value, class Launch>
void launch_strip(const DeviceMultiVector<const Value>& x, const DeviceMultiVector<Value>& y,
                  std::int64_t first, std::int64_t vectors, bool add, const float* diagonal,
                  const Launch& launch) {
  using Stride = typename Strip::Stride;
  launch(Strip{x.data + first, y.data + first, static_cast<Stride>(x.row_stride * sizeof(Value)),
               static_cast<Stride>(y.row_stride * sizeof(Value)),
               static_cast<std::int32_t>(vectors), add, diagonal});
}

template <class Strip, class Value>
bool is_aligned(const Value* data, std::int64_t row_stride) {
  constexpr std::int64_t bytes = Strip::kChunk * sizeof(Value);
  return std::bit_cast<std::uintptr_t>(data) % bytes == 0 && row_stride % Strip::kChunk == 0 &&
         row_stride * sizeof(Value) <= std::numeric_limits<std::uint32_t>::max();
}
}  // namespace detail

// Calls launch(strip) for strips that together have all vectors of X: as few as possible, so that
// the matrix is read as seldom as possible. `diagonal` is that of Strip.
template <class Value, class Launch>
void for_each_strip(DeviceMultiVector<const Value> x, DeviceMultiVector<Value> y,
                    Accumulate accumulate, const float* diagonal, const Launch& launch) {
  const bool add = accumulate == Accumulate::yes;
  for (std::int64_t first = 0; first < x.width;) {
    const std::int64_t left = x.width - first;
    const auto is_whole = [&]<int width>() {
      using Whole = Strip<Value, width, true>;
      return left >= width && detail::is_aligned<Whole>(x.data + first, x.row_stride) &&
             detail::is_aligned<Whole>(static_cast<const Value*>(y.data + first), y.row_stride);
    };
    const auto take = [&]<int width, bool whole>() {
      const std::int64_t vectors = std::min<std::int64_t>(left, width);
      detail::launch_strip<Strip<Value, width, whole>>(x, y, first, vectors, add, diagonal, launch);
      first += vectors;
    };
    // 24 vectors are a strip of 16 and one of 8; 25 vectors are one strip of 32 with tests.
    const bool exact = left >= 32 || left % 8 == 0;
    if (left >= 32 && is_whole.template operator()<32>())
      take.template operator()<32, true>();
    else if (exact && is_whole.template operator()<16>())
      take.template operator()<16, true>();
    else if (exact && is_whole.template operator()<8>())
      take.template operator()<8, true>();
    else if (left > 8)
      take.template operator()<32, false>();
    else
      take.template operator()<8, false>();
  }
}

}  // namespace trireme
