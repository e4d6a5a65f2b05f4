// SPDX-License-Identifier: BSD-3-Clause
// Writes one tile: its index bytes in its format, and the position of each of its values. Host and
// GPU builders use the same functions.
//
// Tile is a sequence of the entries of one tile in row order: size(), place(k), which is
// 16 * row + column within the tile, and entry(k), the number of the entry in the CSR.
// position(entry, k) takes the place k of an entry among the stored entries of the tile.
#pragma once

#include <cstdint>

#include "kernels/peers/tilespmv/format.hpp"
#include "kernels/peers/tilespmv/layout.hpp"

namespace trireme::tilespmv {

constexpr std::uint8_t place_of(int row, int column) {
  return static_cast<std::uint8_t>(kTile * row + column);
}
constexpr int row_of(std::uint8_t place) { return place / kTile; }
constexpr int column_of(std::uint8_t place) { return place % kTile; }

template <class Tile>
constexpr TileCounts count_entries(const Tile& tile, int height, int width) {
  TileCounts counts;
  counts.height = height;
  counts.width = width;
  counts.entries = tile.size();
  for (std::int32_t k = 0; k < tile.size(); ++k) {
    if (k > 0 && tile.place(k) == tile.place(k - 1)) counts.repeats = true;
    ++counts.in_row[row_of(tile.place(k))];
    ++counts.in_column[column_of(tile.place(k))];
  }
  return counts;
}

// Sets index number k of packed 4-bit indices. The bytes must be zero before.
constexpr void set_packed(std::uint8_t* indices, int k, int index) {
  indices[k / 2] = static_cast<std::uint8_t>(indices[k / 2] | (k % 2 == 0 ? index << 4 : index));
}

namespace detail {

template <class Tile, class Position>
constexpr void write_csr(const Tile& tile, const TileCounts& counts, std::uint8_t* indices,
                         const Position& position) {
  int start = 0;
  for (int row = 0; row < kTile; ++row) {
    indices[row] = static_cast<std::uint8_t>(start);
    start += counts.in_row[row];
  }
  for (std::int32_t k = 0; k < tile.size(); ++k) {
    set_packed(indices + kTile, k, column_of(tile.place(k)));
    position(tile.entry(k), k);
  }
}

template <class Tile, class Position>
constexpr void write_coo(const Tile& tile, std::uint8_t* indices, const Position& position) {
  for (std::int32_t k = 0; k < tile.size(); ++k) {
    indices[k] = tile.place(k);
    position(tile.entry(k), k);
  }
}

// Writes the first `width` entries of each row as ELL, and the others as COO, whose places go to
// `coo`.
template <class Tile, class Position>
constexpr void write_ell_and_coo(const Tile& tile, int height, int width, std::uint8_t* columns,
                                 std::uint8_t* coo, const Position& position) {
  std::int32_t k = 0;
  int beyond = 0;
  for (int row = 0; row < height; ++row) {
    int j = 0, column = 0;
    for (; k < tile.size() && row_of(tile.place(k)) == row; ++k) {
      if (j < width) {
        column = column_of(tile.place(k));
        set_packed(columns, j * height + row, column);
        position(tile.entry(k), j * height + row);
        ++j;
      } else {
        coo[beyond] = tile.place(k);
        position(tile.entry(k), width * height + beyond);
        ++beyond;
      }
    }
    for (; j < width; ++j) set_packed(columns, j * height + row, column);
  }
}

template <class Tile, class Position>
constexpr void write_dns(const Tile& tile, const TileCounts& counts, std::uint8_t* indices,
                         const Position& position) {
  const bool full = counts.entries == counts.height * counts.width;
  for (std::int32_t k = 0; k < tile.size(); ++k) {
    const int row = row_of(tile.place(k)), column = column_of(tile.place(k));
    position(tile.entry(k), column * counts.height + row);
    if (full) continue;
    std::uint8_t& byte = indices[2 * column + row / 8];
    byte = static_cast<std::uint8_t>(byte | 1 << row % 8);
  }
}

template <class Tile, class Position>
constexpr void write_dns_row(const Tile& tile, int width, std::uint8_t* indices,
                             const Position& position) {
  for (std::int32_t k = 0; k < tile.size(); ++k) {
    if (k % width == 0) set_packed(indices, k / width, row_of(tile.place(k)));
    position(tile.entry(k), k);
  }
}

// All rows have the same columns, so that entry k lies in full column number k % full_columns.
template <class Tile, class Position>
constexpr void write_dns_col(const Tile& tile, int height, std::uint8_t* indices,
                             const Position& position) {
  const int full_columns = tile.size() / height;
  for (std::int32_t k = 0; k < tile.size(); ++k) {
    if (k < full_columns) set_packed(indices, k, column_of(tile.place(k)));
    position(tile.entry(k), k % full_columns * height + k / full_columns);
  }
}

}  // namespace detail

// Writes plan.index_bytes bytes, and calls position() once for each entry.
template <class Tile, class Position>
constexpr void write_tile(const Tile& tile, const TileCounts& counts, const TilePlan& plan,
                          std::uint8_t* indices, const Position& position) {
  for (std::int32_t k = 0; k < plan.index_bytes; ++k) indices[k] = 0;
  const int ell = plan.ell_width * counts.height;
  switch (plan.format) {
    case Format::csr:
      return detail::write_csr(tile, counts, indices, position);
    case Format::coo:
      return detail::write_coo(tile, indices, position);
    case Format::ell:
      return detail::write_ell_and_coo(tile, counts.height, plan.ell_width, indices, nullptr,
                                       position);
    case Format::hyb:
      indices[0] = static_cast<std::uint8_t>(plan.ell_width);
      return detail::write_ell_and_coo(tile, counts.height, plan.ell_width, indices + 1,
                                       indices + 1 + packed_bytes(ell), position);
    case Format::dns:
      return detail::write_dns(tile, counts, indices, position);
    case Format::dns_row:
      return detail::write_dns_row(tile, counts.width, indices, position);
    case Format::dns_col:
      return detail::write_dns_col(tile, counts.height, indices, position);
  }
}

}  // namespace trireme::tilespmv
