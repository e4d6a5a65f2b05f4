// SPDX-License-Identifier: BSD-3-Clause
// The rule that selects the format of a tile, and the sizes of a tile in that format. Host and GPU
// builders use the same functions.
//
// The rule of the paper (section III), with the thresholds of the program that its authors
// published. A tile has n entries in h rows and w columns. The first line that holds decides:
//
//   1. n >= 0.75 h w                                           Dns
//   2. n <= 12                                                 COO
//   3. every row that is not empty is full                     DnsRow
//   4. every column that is not empty is full                  DnsCol
//   5. variation of the row lengths <= 0.2                     ELL
//   6. variation >= 1.0, and at most 4 entries in the COO part HYB   (disabled in that program)
//   7.                                                         CSR
//
// The variation is the standard deviation of the row lengths, divided by their mean. The width of
// the ELL part of a HYB tile is found by counting bytes: it shrinks while that saves bytes.
//
// Ours is the same rule, with these differences:
//   1. A tile with fewer than 16 rows or columns is Dns only where it is full. Masks would take up
//      to 2 bytes per entry there.
//   6. A tile is HYB where the variation is >= 1.0, no row is empty and HYB takes fewer bytes than
//      CSR. The limit of 4 entries would leave hardly any tile to HYB: a variation of 1.0 needs
//      more entries than that beyond the mean. An empty row would read an x that it has no entry
//      for. The width is the one with the fewest bytes of all, the smaller one where two are equal.
//   0. A tile with two entries at the same place is COO, the only format that can hold both.
#pragma once

#include <cstdint>

#include "kernels/peers/tilespmv/layout.hpp"

namespace trireme::tilespmv {

inline constexpr int kMaxCooEntries = 12;

struct TileCounts {
  int height = 0, width = 0;  // rows and columns of the tile
  std::int32_t entries = 0;
  bool repeats = false;  // Two entries have the same place.
  std::uint16_t in_row[kTile] = {};
  std::uint16_t in_column[kTile] = {};
};

struct TilePlan {
  Format format = Format::coo;
  int ell_width = 0;        // of ELL and HYB
  std::int32_t stored = 0;  // entries with padding
  std::int32_t index_bytes = 0;
};

namespace detail {

constexpr bool empty_or_full(const std::uint16_t* counts, int lines, int full) {
  for (int line = 0; line < lines; ++line)
    if (counts[line] != 0 && counts[line] != full) return false;
  return true;
}

constexpr int longest_row(const TileCounts& tile) {
  int longest = 0;
  for (int row = 0; row < tile.height; ++row)
    if (tile.in_row[row] > longest) longest = tile.in_row[row];
  return longest;
}

// The entries of the COO part of a HYB tile.
constexpr int beyond(const TileCounts& tile, int ell_width) {
  int count = 0;
  for (int row = 0; row < tile.height; ++row)
    if (tile.in_row[row] > ell_width) count += tile.in_row[row] - ell_width;
  return count;
}

constexpr TilePlan csr_plan(const TileCounts& tile) {
  return {Format::csr, 0, tile.entries, kTile + packed_bytes(tile.entries)};
}

constexpr TilePlan ell_plan(const TileCounts& tile) {
  const int width = longest_row(tile);
  return {Format::ell, width, width * tile.height, packed_bytes(width * tile.height)};
}

constexpr TilePlan hyb_plan(const TileCounts& tile, int ell_width) {
  const int ell = ell_width * tile.height;
  const int coo = beyond(tile, ell_width);
  return {Format::hyb, ell_width, ell + coo, 1 + packed_bytes(ell) + coo};
}

constexpr int bytes_of(const TilePlan& plan, int value_bytes) {
  return plan.stored * value_bytes + plan.index_bytes;
}

constexpr TilePlan hyb_or_csr(const TileCounts& tile, int value_bytes) {
  TilePlan best = csr_plan(tile);
  for (int row = 0; row < tile.height; ++row)
    if (tile.in_row[row] == 0) return best;
  for (int width = 1; width < longest_row(tile); ++width) {
    const TilePlan hyb = hyb_plan(tile, width);
    if (bytes_of(hyb, value_bytes) < bytes_of(best, value_bytes)) best = hyb;
  }
  return best;
}

}  // namespace detail

// value_bytes is the size of a stored value.
constexpr TilePlan plan_tile(const TileCounts& tile, int value_bytes) {
  const int n = tile.entries, h = tile.height, w = tile.width;
  if (tile.repeats) return {Format::coo, 0, n, n};
  if (n == h * w) return {Format::dns, 0, n, 0};
  if (h == kTile && w == kTile && 4 * n >= 3 * h * w) return {Format::dns, 0, h * w, 2 * w};
  if (n <= kMaxCooEntries) return {Format::coo, 0, n, n};
  if (detail::empty_or_full(tile.in_row, h, w)) return {Format::dns_row, 0, n, packed_bytes(n / w)};
  if (detail::empty_or_full(tile.in_column, w, h))
    return {Format::dns_col, 0, n, packed_bytes(n / h)};
  // With s as the sum of the squares of the row lengths, variation^2 = h s / n^2 - 1.
  int squares = 0;
  for (int row = 0; row < h; ++row) squares += tile.in_row[row] * tile.in_row[row];
  if (25 * h * squares <= 26 * n * n) return detail::ell_plan(tile);  // variation <= 0.2
  if (h * squares < 2 * n * n) return detail::csr_plan(tile);         // variation < 1.0
  return detail::hyb_or_csr(tile, value_bytes);
}

}  // namespace trireme::tilespmv
