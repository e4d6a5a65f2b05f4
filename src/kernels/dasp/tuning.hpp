// SPDX-License-Identifier: BSD-3-Clause
// The numbers of dasp that were chosen by measurement. Other values give the same products, slower.
#pragma once

#include <cstdint>

namespace trireme::dasp {

// A warp takes 8 rows of this length or longer, and 32 shorter rows: 8 long rows have enough
// entries to keep a warp busy.
inline constexpr std::int32_t kShortestRows8 = 32;
// The same limit for FP16 values, which have fewer bytes per entry. It applies to a length that at
// least kManyRows rows have: those fill a GPU with 32 rows per warp as well.
inline constexpr std::int32_t kShortestRows8Fp16 = 96;
inline constexpr std::int64_t kManyRows = 1 << 17;
// Rows, pieces or entries per task of the short classes.
inline constexpr std::int32_t kPiecesPerTask = 32;
inline constexpr std::int32_t kOnesPerTask = 128;
inline constexpr std::int32_t kEmptyPerTask = 256;
// A long row has 512 entries per task, or more where it would otherwise have over kMaxPartials
// partial sums.
inline constexpr std::int32_t kGroupsPerTask = 8;
inline constexpr std::int32_t kMaxPartials = 1024;
// Tasks of rows of this length or longer take several rounds of memory latency.
inline constexpr std::int32_t kShortestHeavy = 96;
// A product with several vectors multiplies rows that share columns on the matrix unit where the 8
// rows of each row block have at most this many different lists of columns: each list takes one
// matrix product.
inline constexpr std::int32_t kMaxColumnLists = 4;

// Of a CUDA block; the number of blocks that a multiprocessor holds leaves 64 registers per thread.
inline constexpr int kThreads = 256;
inline constexpr int kBlocksPerMultiprocessor = 4;
// A warp takes several small tasks, which share entries of x; the loads of one hide the latency of
// the next.
inline constexpr std::int64_t kEntriesPerWarp = 512;
inline constexpr std::int64_t kMaxTasksPerWarp = 4;
// The number of blocks for several vectors: 128 registers per thread for 32 vectors, 80 for fewer.
// With fewer registers, too few rows of X are on their way at the same time.
template <class Strip>
inline constexpr int kBlocksOfStrips = Strip::kWidth == 32 ? 2 : 3;
// Entries that a lane loads before it gathers the first x: as many as 64 registers can hold.
template <class Stored, bool near_task>
inline constexpr int kEntriesUnderWay = sizeof(Stored) == 8 || !near_task ? 8
                                        : sizeof(Stored) == 4             ? 12
                                                                          : 20;
// The same for a rows32 task, in blocks.
template <class Stored, bool near_task>
inline constexpr int kRowBlocks = sizeof(Stored) == 8 || !near_task ? 2
                                  : sizeof(Stored) == 4             ? 3
                                                                    : 5;

}  // namespace trireme::dasp
