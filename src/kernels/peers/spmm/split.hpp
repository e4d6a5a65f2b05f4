// SPDX-License-Identifier: BSD-3-Clause
// How the seven products share Y = A X among the threads of a GPU.
//
//              a thread or warp takes            of these vectors   and the sum is made by
//   row-thread one row, by a thread              1                  the thread, in order
//   row-warp   one row, by a warp                32, one per lane   each lane, in order
//   row-reduce one row, by a warp                32, in each lane   all lanes, in a tree
//   nnz-thread 32 nonzeros, by a thread          1                  the thread, in order
//   nnz-tile   32 nonzeros, by a thread          32                 the thread, in order
//   nnz-warp   32 nonzeros, by a warp            32, in each lane   all lanes, in a tree
//   nnz-cache  32 nonzeros, by a warp            32, one per lane   each lane, in order
//
// In the warp kernels each lane reads one nonzero at a time. In row-warp and nnz-cache a shuffle
// then brings all 32 nonzeros to every lane, which multiplies them by its own vector. In row-reduce
// and nnz-warp a lane multiplies its own nonzero by every vector of the tile.
//
// A thread block has 256 threads, that is 8 warps. Where the nonzeros are shared, a block thus
// takes 8192 consecutive nonzeros (nnz-thread, nnz-tile) or 256 (nnz-warp, nnz-cache).
#pragma once

#include <cstdint>

namespace trireme {

enum class SpmmSplit {
  row_thread,
  row_warp,
  row_reduce,
  nnz_thread,
  nnz_tile,
  nnz_warp,
  nnz_cache,
  by_rule  // one of the others, by the number of vectors and the row lengths (rule.hpp)
};

namespace spmm {

inline constexpr int kLanes = 32;     // per warp
inline constexpr int kTile = kLanes;  // vectors per thread or warp, at most
inline constexpr int kThreads = 256;  // per block
inline constexpr int kNonzeros = 32;  // per thread or warp, where the nonzeros are shared
inline constexpr std::int64_t kPerBlockOfThreads = std::int64_t{kThreads} * kNonzeros;
inline constexpr std::int64_t kPerBlockOfWarps = std::int64_t{kThreads / kLanes} * kNonzeros;

// The nonzeros per block; 0 where the rows are shared.
constexpr std::int64_t block_size(SpmmSplit split) {
  switch (split) {
    case SpmmSplit::nnz_thread:
    case SpmmSplit::nnz_tile:
      return kPerBlockOfThreads;
    case SpmmSplit::nnz_warp:
    case SpmmSplit::nnz_cache:
      return kPerBlockOfWarps;
    default:
      return 0;
  }
}

// The number of blocks of `size` nonzeros.
constexpr std::int64_t block_count(std::int64_t nnz, std::int64_t size) {
  return (nnz + size - 1) / size;
}

}  // namespace spmm
}  // namespace trireme
