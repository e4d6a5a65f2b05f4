// SPDX-License-Identifier: BSD-3-Clause
// The ALBUS layout on the host: every thread gets the same number of nonzeros, and rows are cut
// wherever a share ends.
//
// H. Bian et al., "ALBUS: A method for efficiently processing SpMV using SIMD and Load balancing",
// Future Generation Computer Systems 116 (2021) 371-392, sections 3.1 (balance) and 3.2 (SIMD).
//
// There is one part per thread. Part t has the nonzeros [start1, end1) = [t nnz/T, (t+1) nnz/T) and
// owns the rows [start, end) that begin among them. The owner of a row writes its entry of y, also
// where the row is cut. The share of a cut row that lies in the next part is that part's `head`:
// its sum goes to result_mid[t], and when all parts are done the heads are added to y in the order
// of t. The method needs no atomics and gives the same bits every time for the same number of
// parts.
//
//   row      0       1     2               3   4
//   nonzeros a a a | b b | c c c : c c c | d | e e e e
//            ^----- part 0 ----^   ^----- part 1 ----^
//
//   start1 of part 1 is 8. Part 0 sums the first three entries of row 2 (its tail) and writes y[2];
//   part 1 sums the last three (its head), and that sum is added to y[2] at the end.
//
// Whole rows of a part are gathered into windows that are small enough for the caches of a core.
// The rows of a window are visited in the order that suits their lengths (RowOrder):
//
//   runs     6 7 7 .. 7 6   The rows are in storage order, described as runs of one length:
//                           (6,1) (7,126) (6,1). The loop over a row has a fixed number of steps,
//                           so that no branch is mispredicted.
//   sorted   2 5 1 1 3 ..   The rows are short and their length changes often. They are ordered by
//                           length inside the window and visited in runs. One slot per row says
//                           where its nonzeros and its entry of y lie, as 16-bit distances from
//                           those of the window's first row.
//   rows     31 48 12 ..    The rows are in storage order; the last vector of each row is masked.
//   groups   (81,3) (54,3)  Neighbouring rows have the same columns (the unknowns of one node in a
//                           finite-element matrix). Each vector of x is gathered once per group,
//                           and narrow columns are stored once per group.
//   diagonals (7,120)       Each row has the columns of the row before, moved by one, as in
//                           stencils and bands. The columns are stored as distances from the row,
//                           once for windows that follow each other. The values are a copy in
//                           slices of 8 rows, the first nonzeros of the 8 rows, then the second
//                           ones, and so on (sliced ELLPACK: Monakov, Lokhmotov and Avetisyan,
//                           HiPEAC 2010), so that x and values are read as whole vectors. The last
//                           slice of a window may have fewer rows, and then has their values only.
//
// Diagonals repeat where all rows of a window have the same values too, bit by bit, as in stencils
// with constant coefficients. The values of one row are then stored, once for windows that follow
// each other, and broadcast. The sums have the same order, and the same bits, as with stored
// values. The values decide this and the places of all values (number_values()), so that new values
// that do not repeat are stored one by one, and the other way round:
//
//   rows     2 -1 -1 | 2 -1 -1 | .. | 2 -1 -1     the placed values: 2 -1 -1
//   rows     2 -1 -1 | 3 -1 -1 | .. | 4 -1 -1     the placed values: 2 3 .. -1 -1 .. -1 -1 ..
//
// Rows of a matrix that fits into the last cache are in slices of 8 rows where the estimated time
// is less (slices.cpp). A step of a slice has one nonzero of each row, or of some rows, which a
// mask of 8 bits names. The values are a copy with 8 per step, zeros for the rows that do not take
// part, so that a vector has one row per lane and no sum over lanes is needed:
//
//   masked_diagonals        Most columns are those of the row before, moved by one, as in stencils
//                           with holes and ends. The rows are in storage order. A step has all
//                           nonzeros of the slice at one distance from the diagonal. It stores this
//                           distance, and reads x as a whole vector (diagonal storage, per slice).
//   sorted_slices           Other rows, of less than 64 nonzeros. At most 256 of them are ordered
//                           by falling length before they are cut into slices; step k has the k-th
//                           nonzeros of the rows. x is gathered at 8 narrow columns per step
//                           (SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske and Bishop, SIAM J.
//                           Sci. Comput. 36 (2014) C401-C423, with masks in the place of padded
//                           products).
//
// On columns that lie anywhere, nearly every gather of x would wait for the last cache or for
// memory. Whole rows of such a part are stored in tiles instead (tiles.cpp decides): blocks of at
// most 2^16 rows, cut into tiles of so many columns that a tile's share of x stays in the cache of
// the core (Nishtala, Vuduc, Demmel and Yelick, AAECC 18 (2007) 297-311; with 16-bit rows and
// columns as in compressed sparse blocks, Buluc et al., SPAA 2009).
//
//            tile 0    tile 1     Each tile has its own copy of its values, 16-bit columns, and one
//   row 0    a b     | c          16-bit row for each row with nonzeros, in the order in which they
//   row 1            | d e f      are visited: by the number of the row's nonzeros in the tile, and
//   row 2    g       |            rows of 64 and more in storage order at the end. Tile 0 stores
//   row 3    h i     | j          g ab hi, with rows 2 0 3 and the runs (1,1) (2,2); tile 1 stores
//                                 c j def. Each run adds to y, or to
//                                 sums in FP64 where y is in FP32.
//
// A window is narrow where its columns span less than 2^16: they are then stored as 16-bit
// distances from its smallest column, `base`.
//
// Bytes moved per nonzero (double): 8 for the value, and 2 (narrow) or 4 for the column; in groups
// of g rows a narrow column takes 2/g, in diagonals 0. Of repeated diagonals nothing is moved but x
// and y. A step of a slice moves 69 (masked diagonals) or at most 81 (sorted slices) for up to 8
// nonzeros. Bytes moved per row: 0 (runs, groups, both diagonals), 2 (sorted slices) or 4 (sorted:
// the slot; rows: the CSR's row_ptr), beside x and y. The values are those of the CSR, in its
// order, but in parts with diagonals or slices. Tiles move 10 bytes per nonzero, 2 per row of a
// tile, x once per block and y from the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"

namespace trireme::albus {

// Consecutive rows of the same length.
struct Run {
  std::int32_t length = 0;  // nonzeros of each row
  std::int32_t count = 0;   // rows
};

// Where a row of a sorted window lies.
struct Slot {
  std::uint16_t offset = 0;  // of the row's first nonzero, from the window's first nonzero
  std::uint16_t row = 0;     // from the window's first row
};

// A step of a slice has one nonzero of each of its rows, or of some of them.
struct Steps {
  std::uint16_t full = 0;  // sorted slices: steps at the beginning that have all rows
  std::uint16_t all = 0;
};

// The order in which the rows of a window are visited; the drawing above shows each.
enum class RowOrder : std::uint8_t {
  runs,
  sorted,
  rows,
  groups,
  diagonals,
  masked_diagonals,
  sorted_slices
};

// Of slices and of diagonals, whose last slice may have fewer.
inline constexpr std::int32_t kSliceRows = 8;

// The columns of a narrow window are in 16 bits: they span less than this.
inline constexpr std::int64_t kNarrowSpan = std::int64_t{1} << 16;

struct Window {
  std::int32_t first_row = 0;
  std::int32_t first_nonzero = 0;
  std::int32_t base = 0;          // smallest column; 0 where the window is not narrow
  std::int32_t first_run = 0;     // index in Part::runs, or in Part::steps
  std::int32_t runs = 0;          // number of runs, or of slices
  std::int32_t first_slot = 0;    // index in Part::slots (sorted) or slice_rows (sorted slices)
  std::int32_t first_column = 0;  // index in Part::narrow_col_idx, or in offsets (both diagonals)
  std::int32_t first_mask = 0;    // index in Part::masks
  std::int64_t first_value = 0;   // index in the part's placed values
  std::uint16_t rows = 0;
  RowOrder order = RowOrder::runs;
  bool narrow = false;  // columns are in Part::narrow_col_idx, one per nonzero or per group
  bool repeated =
      false;  // diagonals: all rows have the values of the first one, which are stored once

  bool in_slices() const {
    return order == RowOrder::masked_diagonals || order == RowOrder::sorted_slices;
  }
};

// The nonzeros of a block of rows in Layout::tile_columns consecutive columns.
struct Tile {
  std::int32_t first_column = 0;
  std::int32_t first_run = 0;      // index in Part::runs
  std::int32_t runs = 0;           // number of runs
  std::int32_t first_slot = 0;     // index in Part::tile_rows
  std::int32_t first_nonzero = 0;  // index in Part::tile_columns and in the part's placed values
  std::int32_t nonzeros = 0;
};

// Consecutive rows whose nonzeros lie in tiles.
struct TileBlock {
  std::int32_t first_row = 0;
  std::int32_t rows = 0;
  std::int32_t first_tile = 0;  // index in Part::tiles
  std::int32_t tiles = 0;
};

// The share of one thread.
struct Part {
  std::int32_t start1 = 0, end1 = 0;  // nonzeros of the part
  std::int32_t start = 0, end = 0;    // rows that begin in the part
  std::int32_t head_end = 0;          // the head: nonzeros [start1, head_end) of row start - 1
  std::int32_t tail_begin = 0;        // the tail: nonzeros [tail_begin, end1) of a cut row end - 1
  Array<Window> windows;
  Array<Run> runs;
  Array<Slot> slots;
  Array<std::uint16_t> narrow_col_idx;  // window after window
  Array<std::int32_t> offsets;          // column - row of the nonzeros of a row of diagonals, or of
                                        // the steps of masked diagonals

  Array<Steps> steps;         // of each slice
  Array<std::uint8_t> masks;  // of each step that is not full: bit i stands for the slice's row i
  Array<std::uint16_t> slice_rows;  // of sorted slices: distances from the window's first row

  // Whole rows are either in windows or in blocks of tiles.
  Array<TileBlock> blocks;
  Array<Tile> tiles;
  Array<std::uint16_t> tile_rows;  // distances from the first row of the block, tile after tile
  Array<std::uint16_t>
      tile_columns;            // distances from the first column of the tile, tile after tile
  Array<std::int32_t> places;  // of the part's nonzeros in whole rows, in tile_columns
  // Of the rows of one block, where vectors are in FP32. A product writes them.
  mutable LineArray<double> block_sums;

  // In a part with tiles, diagonals or slices the values of all whole rows are placed: in the order
  // in which the tiles or windows read them. Otherwise `placed` is 0.
  std::int64_t placed = 0;        // values, with the zeros that fill slices
  std::int64_t first_placed = 0;  // index in Layout::placed

  std::int32_t whole_rows_end() const { return has_tail() ? end - 1 : end; }
  // Both diagonals have offsets, but only masked ones have steps, and no part has both.
  bool has_diagonals() const { return steps.empty() && !offsets.empty(); }
  bool has_head() const { return head_end > start1; }
  bool has_tail() const { return tail_begin < end1; }
};

// The parts, and the arrays of the CSR that they refer to, which are borrowed.
struct Pattern {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<Part> parts;
  bool beyond_core_cache = false;  // A part exceeds the cache of its core: runs are prefetched.
  bool beyond_last_cache = false;  // The matrix exceeds the last cache: masked rows are prefetched.
  bool gathers = false;            // Slices gather x by one instruction.
  bool fetch_rows = false;         // Runs of long rows and groups are prefetched.
  std::span<const std::int32_t> row_ptr;
  std::span<const std::int32_t> col_idx;
  std::int64_t tile_columns = 0;  // columns of a tile
};

// The same with values, which are borrowed, too; placed values are a copy.
template <class Value>
struct Layout : Pattern {
  std::span<const Value> values;
  LineArray<Value> placed;  // part after part

  // The first value of a window, whose values follow.
  const Value* values_of(const Part& part, const Window& window) const {
    if (part.placed == 0) return values.data() + window.first_nonzero;
    return placed.data() + part.first_placed + window.first_value;
  }
};

}  // namespace trireme::albus
