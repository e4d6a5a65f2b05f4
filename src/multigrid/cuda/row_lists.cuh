// SPDX-License-Identifier: BSD-3-Clause
// Classes of rows by their length, and lists of the rows of a class, for the kernels that make
// matrices (make_rows.cuh).
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

namespace trireme::multigrid::row_kernels {

inline constexpr int kThreads = 128;
inline constexpr int kBitmapThreads = 256;
inline constexpr std::int32_t kListPlaces = 32, kFewPlaces = 128, kMorePlaces = 512,
                              kManyPlaces = 8192;
inline constexpr int kLists = 4;
// Columns of a row whose sums fit into two and into six registers of 8 lanes.
inline constexpr std::int32_t kShortSums = 16, kOwnedSums = 48;
// Columns of a row whose sums fit into shared memory.
inline constexpr std::int32_t kMoreSums = 128;
template <int kWidth>
inline constexpr std::int32_t kFewSums = kWidth == 1 ? 48 : 16;

// The largest numbers of terms of rows that begin in the first classes. One thread per row needs
// many rows.
struct Limits {
  std::int64_t thread, few, more;
};
inline Limits limits_for(std::int64_t rows) {
  constexpr std::int64_t kManyRows = 1 << 16;
  return {rows >= kManyRows ? 256 : 64, 4096, 8192};
}

template <int kLanes>
__device__ std::int64_t group_number() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes;
}
template <int kLanes>
__device__ std::int64_t number_of_groups() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x / kLanes;
}

// Lists of rows, one per class above 0.
struct RowLists {
  std::int32_t* rows[kLists];
  std::int32_t* sizes;    // of the lists
  std::uint8_t* classes;  // by row; null where no one asks
  // Called by any threads of a warp, with the same list.
  __device__ void add(int list, std::int32_t row) const {
    if (classes) classes[row] = static_cast<std::uint8_t>(list + 1);
    const auto together = cooperative_groups::coalesced_threads();
    std::int32_t at = 0;
    if (together.thread_rank() == 0)
      at = atomicAdd(sizes + list, static_cast<std::int32_t>(together.size()));
    rows[list][together.shfl(at, 0) + static_cast<std::int32_t>(together.thread_rank())] = row;
  }
};

}  // namespace trireme::multigrid::row_kernels
