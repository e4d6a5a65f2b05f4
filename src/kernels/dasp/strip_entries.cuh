// SPDX-License-Identifier: BSD-3-Clause
// How the groups of lanes of a product with a strip of vectors (kernels/strip.cuh) load entries of
// a DASP layout and rows of X.
#pragma once

#include "kernels/dasp/product.cuh"
#include "kernels/strip.cuh"

namespace trireme::dasp {

// The place of a lane.
template <class Strip>
struct Group {
  int lane = threadIdx.x % 32;
  int number = lane / Strip::kLanes;  // of the group in its warp
  int member = lane % Strip::kLanes;  // of the lane in its group
};

// Where the rows of X are that belong to the columns of a task.
template <class Strip>
struct ColumnsOfX {
  const char* first;  // the lane's part of the row of X that belongs to column or offset 0
  bool is_near;       // columns are 16-bit offsets

  __device__ ColumnsOfX(const Strip& strip, std::int32_t base, int member)
      : first(strip.lane_of_x(member)), is_near(base >= 0) {
    if (is_near) first = strip.row_of_x(first, base);
  }
  __device__ __forceinline__ const char* row(const Strip& strip, std::uint32_t column) const {
    return strip.row_of_x(first, column);
  }
};

// Four consecutive entries of a row, which all lanes of a group hold. The columns stay as they are
// in memory until they are used, so that no lane waits for them earlier.
template <class Stored>
struct FourEntries {
  Stored value[4];
  std::uint32_t column[4];  // after load() of 16-bit columns: two in each of the first two

  __device__ __forceinline__ void load(const Part<Stored>& part, std::int64_t at, bool is_near) {
    stream(part.val + at, value);
    if (is_near) {
      const uint2 v = __ldcs(reinterpret_cast<const uint2*>(part.offset + at));
      column[0] = v.x, column[1] = v.y;
    } else {
      const uint4 v = __ldcs(reinterpret_cast<const uint4*>(part.cid + at));
      column[0] = v.x, column[1] = v.y, column[2] = v.z, column[3] = v.w;
    }
  }
  __device__ __forceinline__ void unpack(bool is_near) {
    if (!is_near) return;
    column[3] = column[1] >> 16, column[2] = column[1] & 0xffffu;
    column[1] = column[0] >> 16, column[0] = column[0] & 0xffffu;
  }
  // Loads the `count` entries of an irregular end, at most three. Their columns are not packed.
  __device__ __forceinline__ void load_end(const Part<Stored>& part, std::int64_t at,
                                           std::int32_t count, bool is_near) {
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (k < count) {
        value[k] = __ldcs(part.val + at + k);
        if (is_near)
          column[k] = __ldcs(part.offset + at + k);
        else
          column[k] = __ldcs(part.cid + at + k);
      }
  }
  // Loads the first `count` entries of four, and zeros.
  __device__ __forceinline__ void load_some(const Part<Stored>& part, std::int64_t at,
                                            std::int32_t count, bool is_near) {
    if (count >= 4) return load(part, at, is_near);
    std::uint32_t one[4] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      value[k] = k < count ? __ldcs(part.val + at + k) : Stored(0);
      if (k < count) one[k] = is_near ? part.offset[at + k] : part.cid[at + k];
    }
    column[0] = is_near ? one[0] | one[1] << 16 : one[0];
    column[1] = is_near ? one[2] | one[3] << 16 : one[1];
    column[2] = one[2], column[3] = one[3];
  }
};

template <class Strip, class Stored>
__device__ __forceinline__ void add_one(Stored value, const typename Strip::Entries& row_of_x,
                                        typename Strip::Sums& sums) {
  using Number = typename Strip::Number;
#pragma unroll
  for (int i = 0; i < Strip::kEach; ++i)
    sums[i] += static_cast<Number>(value) * static_cast<Number>(row_of_x[i]);
}

// Adds four entries, one after the other, to the sums of the row. Where they may be padded, a value
// of 0 reads no X.
template <bool padded, class Stored, class Strip>
__device__ __forceinline__ void add_four(const Strip& strip, const ColumnsOfX<Strip>& x,
                                         const FourEntries<Stored>& entries, int member,
                                         typename Strip::Sums& sums) {
  typename Strip::Entries rows[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    strip.gather(x.row(strip, entries.column[k]), member, rows[k],
                 !padded || entries.value[k] != Stored(0));
#pragma unroll
  for (int k = 0; k < 4; ++k) add_one<Strip>(entries.value[k], rows[k], sums);
}

// Adds the `count` entries of an irregular end.
template <class Stored, class Strip>
__device__ __forceinline__ void add_end(const Strip& strip, const ColumnsOfX<Strip>& x,
                                        const FourEntries<Stored>& entries, std::int32_t count,
                                        int member, typename Strip::Sums& sums) {
  typename Strip::Entries rows[3];
#pragma unroll
  for (int k = 0; k < 3; ++k)
    if (k < count) strip.gather(x.row(strip, entries.column[k]), member, rows[k]);
#pragma unroll
  for (int k = 0; k < 3; ++k)
    if (k < count) add_one<Strip>(entries.value[k], rows[k], sums);
}

// Calls use(i, entries) for i = 0 .. count - 1, with what load(i, entries) has loaded one call
// earlier. `count` is the same in all lanes.
template <class Entries, class Load, class Use>
__device__ __forceinline__ void for_each_four(std::int32_t count, Load&& load, Use&& use) {
  Entries even, odd;
  if (count > 0) load(0, even);
#pragma unroll 1
  for (std::int32_t i = 0; i < count; i += 2) {
    if (i + 1 < count) load(i + 1, odd);
    use(i, even);
    if (i + 1 >= count) return;
    if (i + 2 < count) load(i + 2, even);
    use(i + 1, odd);
  }
}

// Asks the L2 cache for `bytes` bytes, at most 4096 of them.
__device__ __forceinline__ void prefetch(const void* from, std::int64_t bytes, int lane) {
  const char* line = static_cast<const char*>(from) + 128 * lane;
  if (128 * lane < bytes) asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
}
template <class Stored>
__device__ __forceinline__ void prefetch(const Part<Stored>& part, std::int64_t first,
                                         std::int32_t entries, bool is_near, int lane) {
  constexpr std::int32_t values_per_round = 4096 / sizeof(Stored);
#pragma unroll 1
  for (std::int32_t done = 0; done < entries; done += values_per_round) {
    const std::int32_t here = min(entries - done, values_per_round);
    prefetch(part.val + first + done, here * sizeof(Stored), lane);
    if (is_near)
      prefetch(part.offset + first + done, here * 2, lane);
    else
      prefetch(part.cid + first + done, here * 4, lane);
  }
}

template <int n, class Number>
__device__ __forceinline__ void clear(Number (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) sums[i] = 0;
}

}  // namespace trireme::dasp
