// SPDX-License-Identifier: BSD-3-Clause
// The numbers of sell that were chosen by measurement, and what was measured. Other values give the
// same products, slower. Times are of an H200.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace trireme::sell {

// Rows that a lane multiplies, with 16-bit columns and with 32-bit columns. Several give wide
// loads.
inline constexpr int kMaxLaneRows = 4;
inline constexpr int kWideLaneRows = 2;
// The product of a matrix that the L2 cache holds waits for latency, and more warps hide more of it
// (poisson27 of 373,000 rows: 13.9 us, and 16.8 with 4 rows per lane). Larger matrices need the
// wide loads of several rows per lane.
inline constexpr std::int64_t kLargeMatrix = 1 << 19;  // rows
constexpr bool is_small(std::int64_t rows, std::int64_t nnz) {
  return rows < (1 << 17) || (rows < kLargeMatrix && nnz < std::int64_t{10} << 20);
}
// Rows that are sorted among themselves: more would take neighbours of x apart.
inline constexpr std::int64_t kWindow = 8192;
// Patterns, and their differences with padding, that the L1 cache holds beside x: 128 KiB, and 96
// KiB with values.
inline constexpr std::int32_t kMaxPatterns = 2048;
inline constexpr std::int64_t kMaxDifferences = 1 << 15;
inline constexpr std::int64_t kMaxRepeated = 1 << 13;

// Ragged rows take over where the rows that sell would keep apart have this share of the nonzeros.
constexpr bool is_ragged(std::int64_t long_nnz, std::int64_t nnz) { return 10 * long_nnz > nnz; }
inline constexpr int kLaneSteps = 16;  // a row of more nonzeros per lane gets more lanes
inline constexpr int kPartSteps = 16;
inline constexpr std::int64_t kRaggedWindow = 8192;  // as kWindow
// A longer row is cut.
constexpr std::int64_t longest_whole_row(std::int64_t rows, std::int64_t nnz) {
  return std::clamp<std::int64_t>(rows == 0 ? 0 : 2 * nnz / rows, 1024, 4000);
}
// A matrix of few nonzeros has one row per lane, because that gives more warps.
constexpr int ragged_lane_rows(std::int64_t nnz) { return nnz < (1 << 21) ? 1 : 2; }

// The maximum number of steps per chunk that a lane loads before it uses the first.
template <int lane_rows>
inline constexpr int kChunkSteps = lane_rows == 1 ? 8 : 4;

namespace tuning {

// True where chunks may be fetched ahead. Fetching ahead pays for FP32 values with FP64 x on large
// matrices in the caller's order (7 to 20 % faster on stencils, 9 % on elasticity). Loading chunks
// directly is faster for FP64 values (8 %), for FP32 x (8 %), for sorted rows (up to 1.8 times),
// and for a matrix that fits into the L2 cache (5 %).
template <int lane_rows, class Stored, class Column, class Vector>
constexpr bool can_fetch_ahead() {
  return lane_rows == kMaxLaneRows && !std::is_same_v<Column, std::int32_t> &&
         std::is_same_v<Stored, float> && std::is_same_v<Vector, double>;
}

// Thread blocks that a multiprocessor must hold at the same time. This bounds the number of
// registers, which the loads in flight take.
template <bool ahead, int lane_rows, bool with_apart, class Stored>
constexpr int min_blocks() {
  if (ahead) return 3;
  if (lane_rows == kMaxLaneRows) return sizeof(Stored) == sizeof(double) ? 3 : 4;
  return with_apart ? 4 : 5;
}
// The same for several vectors. More are faster where the registers suffice (2 to 7 % with 2 rows
// per lane).
template <int lane_rows, class Vector>
constexpr int kBlocksOfVectors = lane_rows == kMaxLaneRows || sizeof(Vector) < sizeof(double) ? 4
                                                                                              : 5;
// The same for several vectors and ragged rows (log-normal rows, 8 vectors: 334 us, and 431 with
// two blocks; 359 with slices fetched into the L2 cache ahead of their use).
inline constexpr int kRaggedBlocksOfVectors = 3;

// Threads per block of ragged rows: where most columns are near the diagonal, one large block per
// multiprocessor shares them in the L1 cache.
inline constexpr int kNearThreads = 1024;
inline constexpr int kFarThreads = 256;

// Rows that repeat: threads per block, and the same where the patterns lie in shared memory, with
// the blocks of a multiprocessor then.
inline constexpr int kRepeatedThreads = 128;
inline constexpr int kSharedThreads = 1024;
inline constexpr int kSharedBlocks = 2;
inline constexpr std::size_t kMaxSharedPatterns = 16 << 10;  // bytes
// Blocks per multiprocessor, which bounds the number of partial sums.
inline constexpr int kRepeatedBlocks = 64;
// Steps of a pattern that are loaded together; its width is a multiple.
inline constexpr int kPatternSteps = 4;
// Groups of four repeated rows in FP32: threads per block, blocks per multiprocessor, patterns at
// most, and the rows from which on groups are faster than rows.
inline constexpr int kGroupThreads = 512;
inline constexpr int kGroupBlocks = 3;
inline constexpr int kMaxGroupPatterns = 128;
inline constexpr std::int64_t kRowsOfGroups = 1 << 21;
// Where nearly all slices take as many steps as the widest pattern does, none is looked up: a
// product whose patterns lie in shared memory waits for latency, and for the number of its
// instructions.
constexpr bool has_uniform_patterns(std::int64_t slices, std::int64_t steps, std::int64_t width) {
  return slices * width <= steps + steps / 16 + slices * (kPatternSteps - 1);
}

}  // namespace tuning
}  // namespace trireme::sell
