// SPDX-License-Identifier: BSD-3-Clause
// The numbers of teb that were chosen by measurement. Other values give the same products, slower.
#pragma once

#include <cstdint>

namespace trireme::teb {

// The maximum number of nonzeros per block: a CUDA block keeps 2048 products in shared memory, and
// starts to read at a multiple of 32.
inline constexpr std::int64_t kMaxNonzeros = 2048 - 31;
// A small matrix gets smaller blocks, so that it has about kWantedBlocks of them.
inline constexpr std::int64_t kWantedBlocks = 512;
inline constexpr std::int64_t kMinNonzeros = 256;
inline constexpr std::int64_t kEmptyRowsPerBlock = 2048;
// A panel has about kPanelNonzeros nonzeros; its number of rows is a power of two.
inline constexpr std::int64_t kPanelNonzeros = 1 << 19;
inline constexpr std::int64_t kMinPanelRows = 1 << 10;
inline constexpr std::int64_t kMaxPanelRows = 1 << 14;

// Of a CUDA block, which takes one TEB block. The number of blocks that a multiprocessor holds
// leaves 64 registers per thread.
inline constexpr int kThreads = 256;
inline constexpr int kNonzerosPerThread = 8;
inline constexpr int kResidentBlocks = 4;
// The first row of a block is its longest. One warp adds up a first row that is longer than
// kLongFront. All warps sum one that is longer than kWideFront, before the other rows.
inline constexpr int kLongFront = 64;
inline constexpr int kWideFront = 512;
// Nonzeros per chunk of a row that is longer than the threshold. One thread block takes one chunk.
inline constexpr int kChunkNonzeros = 4096;

}  // namespace trireme::teb
