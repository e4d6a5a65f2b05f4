// SPDX-License-Identifier: BSD-3-Clause
// The CSR5 layout: tiles of omega x sigma nonzeros, stored transposed, with a descriptor per tile.
//
// W. Liu and B. Vinter, "CSR5: An Efficient Storage Format for Cross-Platform Sparse Matrix-Vector
// Multiplication", ICS 2015, section 3.
//
// The nonzeros of the CSR are cut into tiles of omega * sigma. A tile has omega lanes; lane i has
// sigma consecutive nonzeros. The tile is stored transposed, so that the lanes of a warp read
// neighbouring numbers. A row may begin anywhere in a lane and may go through many lanes and tiles.
//
// An 8 x 8 matrix with 34 nonzeros, which are numbered 0 to 33; omega = sigma = 4:
//
//   rows      r0: 0-2   r1: none   r2: 3-8   r3: 9   r4: 10-17   r5: 18-25   r6: 26-28   r7: 29-33
//
//   tile      0: rows r0, r2 to r4     1: rows r4 to r7         2: row r7
//   lane      0   1   2   3            0   1   2   3            0   1   2   3
//   step 0    0*  4   8  12           16  20  24  28           32   .   .   .    * A row begins
//   step 1    1   5   9* 13           17  21  25  29*          33   .   .   .      here: its flag
//   step 2    2   6  10* 14           18* 22  26* 30            .   .   .   .      is set.
//   step 3    3*  7  11  15           19  23  27  31            .   .   .   .    . Padding.
//
//   tile_ptr        0 (marked)             4                      7             8
//   y_offset        0   2   2   4          0   2   2   3          0   1   1   1
//   seg_offset      1   0   1   0          1   0   0   0          3   2   1   0
//   empty_offset    0   2   3   4          none                   none
//   values, col_idx 0 4 8 12 1 5 9 13 ...  16 20 24 28 17 ...     32 . . . 33 . . . ...
//
// A segment is the part of a row that lies in one tile. The segments of a tile are numbered from 0;
// segment 0 begins with the tile.
//
//   tile_ptr      The row of the first nonzero of each tile, and then the number of rows. The mark
//                 says that there are empty rows between the rows of the tile.
//   bit_flag      One bit per nonzero: a row begins here.
//   y_offset      The number of segments that begin in the lanes before this one, which is the
//                 number of the first segment that begins in this lane.
//   seg_offset    The number of consecutive lanes after this one in which no segment begins.
//   empty_offset  For marked tiles, one number per segment: its row minus tile_ptr. In other tiles
//                 the row of segment s is tile_ptr + s.
//
// sigma is chosen from the mean row length, as in the paper (choose_sigma). omega is 32, the width
// of a warp; tests and the example take smaller ones.
//
// What differs from the paper and from its published code, and why:
//  - A segment that goes through several lanes is summed by additions within the segment only. The
//    paper takes differences of prefix sums over the whole tile. There, large numbers of one row
//    take digits from another row, and an infinite entry of x reaches rows without its column.
//  - The flag of a tile's first nonzero is set only where a row begins there. The paper always sets
//    it, so that a tile cannot tell whether its first row began in an earlier tile. The published
//    code therefore adds the first segment of every tile to y, which must be zero before.
//  - Each nonempty row is stored once, by the tile in which it begins. Each empty row is stored
//    from the list `empty_rows`. y need not be initialised, and a matrix without nonzeros has no
//    tile.
//  - The other segments of a row that crosses tiles are added in the order of the tiles. The
//    published code adds some of them by atomic operations, whose order changes from run to run.
//  - The last tile is padded, and is multiplied like the others. Padding has the column kNoColumn
//    and reads no x. The published code multiplies the nonzeros of the last tile as CSR rows. Where
//    the nonzeros fill all tiles and the last rows of the matrix are empty, it writes a flag behind
//    the last descriptor.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace trireme::csr5 {

inline constexpr int kMaxOmega = 32;  // lanes of a warp
inline constexpr int kMaxSigma = 32;  // bits of a word
inline constexpr std::int32_t kNoColumn = -1;
inline constexpr std::uint32_t kEmptyRowsMark = 0x80000000u;  // in tile_ptr

struct TileShape {
  int omega = kMaxOmega;
  int sigma = 0;

  constexpr int entries() const { return omega * sigma; }
};

// The rule of the paper, section 3.2: rows of the mean length begin about once per lane. The four
// numbers are those of the published CUDA code.
constexpr int choose_sigma(std::int64_t rows, std::int64_t nnz) {
  constexpr int r = 4, s = 32, t = 256, u = 6;
  const std::int64_t mean = rows > 0 ? nnz / rows : 0;
  if (mean <= r) return r;
  if (mean <= s) return static_cast<int>(mean);
  return mean <= t ? s : u;
}

// What a tile descriptor says about one lane.
struct LaneDescriptor {
  std::uint32_t bit_flag = 0;  // bit j: a row begins at step j
  int y_offset = 0;
  int seg_offset = 0;
};

// A lane's descriptor is packed into one word where sigma is at most 16, and into two otherwise:
//
//   one word     bits 0-15 bit_flag, bits 16-24 y_offset (at most 31 * 16), bits 25-29 seg_offset
//   two words    word 0: bit_flag;   word 1: bits 0-9 y_offset (at most 31 * 32), 10-14 seg_offset
constexpr int descriptor_words(int sigma) { return sigma <= 16 ? 1 : 2; }

constexpr std::uint32_t pack_one_word(const LaneDescriptor& lane) {
  return lane.bit_flag | static_cast<std::uint32_t>(lane.y_offset) << 16 |
         static_cast<std::uint32_t>(lane.seg_offset) << 25;
}
constexpr std::uint32_t pack_offsets(const LaneDescriptor& lane) {
  return static_cast<std::uint32_t>(lane.y_offset) | static_cast<std::uint32_t>(lane.seg_offset)
                                                         << 10;
}
constexpr LaneDescriptor unpack(std::uint32_t word) {
  return {word & 0xffff, static_cast<int>(word >> 16 & 0x1ff), static_cast<int>(word >> 25)};
}
constexpr LaneDescriptor unpack(std::uint32_t flags, std::uint32_t offsets) {
  return {flags, static_cast<int>(offsets & 0x3ff), static_cast<int>(offsets >> 10)};
}

// The layout in host memory. It owns its arrays, whose comments give the number of elements. Value:
// double, float.
template <class Value>
struct Layout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  TileShape shape;

  Array<std::uint32_t> tile_ptr;         // tiles + 1
  Array<std::uint32_t> tile_desc;        // descriptor_words * omega per tile, word by word
  Array<std::int32_t> empty_offset_ptr;  // tiles + 1: where each tile's part of the next begins
  Array<std::int32_t> empty_offset;      // one per segment of the marked tiles
  Array<std::int32_t> col_idx;           // omega * sigma per tile
  Array<Value> values;                   // omega * sigma per tile
  Array<std::int32_t> empty_rows;        // all empty rows of the matrix, in their order

  std::int64_t tiles() const { return static_cast<std::int64_t>(tile_ptr.size()) - 1; }
  std::int64_t first_row(std::int64_t tile) const { return tile_ptr[tile] & ~kEmptyRowsMark; }
  bool has_empty_rows(std::int64_t tile) const { return (tile_ptr[tile] & kEmptyRowsMark) != 0; }
  LaneDescriptor descriptor(std::int64_t tile, int lane) const {
    const int words = descriptor_words(shape.sigma);
    const std::uint32_t* word = tile_desc.data() + tile * words * shape.omega + lane;
    return words == 1 ? unpack(*word) : unpack(*word, word[shape.omega]);
  }
  // True where the row of the tile's first nonzero begins in an earlier tile.
  bool continues_a_row(std::int64_t tile) const { return (descriptor(tile, 0).bit_flag & 1) == 0; }
  // The row of a segment of a tile.
  std::int64_t row(std::int64_t tile, std::int64_t segment) const {
    return first_row(tile) +
           (has_empty_rows(tile) ? empty_offset[empty_offset_ptr[tile] + segment] : segment);
  }
};

}  // namespace trireme::csr5
