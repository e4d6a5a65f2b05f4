// SPDX-License-Identifier: BSD-3-Clause
// How both triangular factors lie in GPU memory for their sweeps. Each sweep solves a system
// with one of them. Made on the host, without the numbers.
//
// A position is a row in the order in which the sweeps take them: first all rows of L, then all
// rows of U; in each of them level by level, and within a level by descending length. A slice is
// the rows that a warp takes at once. All of them are of one level, so that no lane of a warp waits
// for another one. A row has 1, 2, 4, ... or 32 lanes, the same number in all rows of a slice, and
// a slice has up to 32 of them:
//
//   two rows of 16 lanes                     position 7 | position 8
//   step 0   entries 0 .. 15 of the row         l l l l | l l l l     32 entries in memory,
//   step 1   entries 16 .. 31                   l l . . | l l l .     one after the other
//
// A row of very many entries is cut into parts, each of which is a position of its own: its number
// is minus the sum of its entries times what they multiply. The row then has an entry -1 for each
// part.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "factors/pattern.hpp"

namespace trireme::factors {

struct alignas(16) Slice {
  std::int32_t position = 0;  // of its first row
  std::int32_t start = 0;     // of its entries in the arrays, in units of 32
  std::int32_t steps = 0;     // entries of a lane
  std::int32_t shape = 0;     // 256 * rows + the logarithm of the lanes of a row

  static std::int32_t shape_of(std::int32_t rows, int log_lanes) { return 256 * rows + log_lanes; }
  constexpr std::int32_t rows() const { return shape >> 8; }
  constexpr int log_lanes() const { return shape & 255; }
};

inline constexpr std::int32_t kPart = -1;  // in place of a row

struct SweepLayout {
  Array<std::int32_t> rows;     // of each position, or kPart
  Array<std::int32_t> firsts;   // the first entry of each position in the pattern; for a row of
                                // parts -1 - the position of its first part
  Array<std::int32_t> lengths;  // entries of each position
  Array<Slice> slices;
  std::int64_t lower_count = 0;   // positions of L
  std::int64_t lower_slices = 0;  // slices of L
  std::int64_t entries = 0;       // room for them in the arrays, with padding
  std::int64_t levels = 0;        // of L and of U together

  std::int64_t count() const { return std::ssize(rows); }
  std::int64_t upper_count() const { return count() - lower_count; }
};

// Rows of more than `longest` entries are cut into parts. The layout is the same for any number of
// threads. Throws Error{resource} where numbers of 32 bits do not suffice.
SweepLayout lay_out(const FactorPattern& pattern, std::int32_t longest = 1024);

}  // namespace trireme::factors
