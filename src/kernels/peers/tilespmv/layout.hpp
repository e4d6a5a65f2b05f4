// SPDX-License-Identifier: BSD-3-Clause
// The TileSpMV layout: the matrix in tiles of 16 x 16 places, each tile in the format that suits
// it.
//
// Niu, Lu, Dong, Jin, Liu, Tan, "TileSpMV: A Tiled Algorithm for Sparse Matrix-Vector
// Multiplication on GPUs", IPDPS 2021, section III.
//
// Level 1 is a CSR of tiles: tile_ptr and tile_col_idx name the tiles that hold entries, row of
// tiles after row of tiles, by ascending column. tile_nnz and tile_index say where the entries and
// the index bytes of a tile begin. The tiles at the lower and the right edge of the matrix have
// only as many rows and columns as the matrix leaves them.
//
// Level 2 are the tiles. Here are seven of them, drawn with 4 x 4 places. Letters are values in row
// order. Two indices of 4 bits share a byte; the first one lies in its upper half. '|' separates
// groups for the reader.
//
//   CSR      a b . .    row starts, 8 bits each     0 2 3 3        (always 16 of them)
//            . . c .    columns, 4 bits each        0 1 | 2 | | 0 2 3
//            . . . .    values                      a b | c | | d e f
//            d . e f
//
//   COO      . . . a    row and column, 4 + 4 bits  03 20
//            . . . .    values                      a  b
//            b . . .
//            . . . .
//
//   ELL      a b . .    columns, 4 bits each        0 1 0 2 | 1 2 0 3  (first entries of all rows,
//            . c d .    values                      a c e f | b d 0 g   then the second ones)
//            e . . .    Padding has the value 0 and the column of the row's last entry, so that it
//            . . f g    reads no entry of x that the row does not read anyway.
//
//   HYB      a b c d    width of the ELL part, 8 bits      1
//            . e . .    columns of the ELL part            0 1 0 3
//            f . . .    row and column of the COO part     01 02 03
//            . . . g    values                             a e f g | b c d
//
//   Dns      a b c d    columns as bit masks, 16 bits each, bit r for row r, the low byte first.
//            e . f g        1111 1101 1111 1111   (written with row 0 at the right)
//            h i j k    A full tile has no masks.
//            l m n o    values, column by column    a e h l | b 0 i m | c f j n | d g k o
//
//   DnsRow   . . . .    rows, 4 bits each           1 3
//            a b c d    values                      a b c d | e f g h
//            . . . .
//            e f g h
//
//   DnsCol   . a . b    columns, 4 bits each        1 3
//            . c . d    values                      a c e g | b d f h
//            . e . f
//            . g . h
//
// format.hpp has the rule that selects the format of a tile.
//
// Very sparse tiles may be taken out of the tiles. Their entries form the deferred matrix, a CSR
// with 32-bit columns, whose values follow those of the tiles. build.hpp says when.
//
// How we read the paper, and where we differ from it:
//  - The paper keeps one set of arrays per format. Here the tiles of all formats follow each other
//    in `values` and `indices`, so that a row of tiles is read from one place.
//  - Masks in Dns tiles are ours. An explicit zero would turn an infinite entry of x into NaN.
//  - The last rows and columns of a matrix are ordinary tiles. The published program drops the last
//    rows % 16 rows.
//
// Bytes moved per nonzero (double): 8 for the value and 0 to 2 for indices; per tile 13; per row 8
// for y, and 4 where there is a deferred matrix, whose entries take 12.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/array.hpp"

namespace trireme::tilespmv {

inline constexpr int kTile = 16;  // rows and columns per tile

enum class Format : std::uint8_t { csr, coo, ell, hyb, dns, dns_row, dns_col };
inline constexpr int kFormats = 7;

// The number of rows of tiles, or of columns of tiles.
constexpr std::int64_t tiles_along(std::int64_t size) { return (size + kTile - 1) / kTile; }
// The number of rows (or columns) of a tile whose first one is kTile * tile.
constexpr int tile_size(std::int64_t size, std::int64_t tile) {
  const std::int64_t left = size - kTile * tile;
  return left < kTile ? static_cast<int>(left) : kTile;
}
// Index number k of packed 4-bit indices.
constexpr int packed(const std::uint8_t* indices, int k) {
  return k % 2 == 0 ? indices[k / 2] >> 4 : indices[k / 2] & 15;
}
constexpr int packed_bytes(int count) { return (count + 1) / 2; }

// The layout in host memory. It owns its arrays. The comments give the number of elements.
// Value: double, float.
template <class Value>
struct Layout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;

  Array<std::int32_t> tile_ptr;      // rows of tiles + 1: the first tile of each
  Array<std::int32_t> tile_col_idx;  // tiles: the first column of a tile is kTile times this
  Array<Format> tile_format;         // tiles
  Array<std::uint32_t> tile_nnz;     // tiles + 1: the stored entries before each tile
  Array<std::uint32_t> tile_index;   // tiles + 1: the bytes of `indices` before each tile
  Array<std::uint8_t> indices;       // tile_index.back()
  Array<Value> values;               // tile_nnz.back() of the tiles, then those deferred

  Array<std::int32_t> deferred_ptr;      // rows + 1, or 0 where nothing is deferred
  Array<std::int32_t> deferred_col_idx;  // deferred_ptr.back()

  std::int64_t tile_rows() const { return static_cast<std::int64_t>(tile_ptr.size()) - 1; }
  std::int64_t tiles() const { return static_cast<std::int64_t>(tile_col_idx.size()); }
  bool defers() const { return !deferred_ptr.empty(); }
  const Value* deferred_values() const { return values.data() + tile_nnz.back(); }
};

}  // namespace trireme::tilespmv
