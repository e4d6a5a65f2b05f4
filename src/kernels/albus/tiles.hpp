// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a part is stored in tiles, and builds them. layout.hpp draws a tile.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/albus/layout.hpp"

namespace trireme::albus {

// The extents of a tile.
struct TileShape {
  std::int64_t rows = 0;  // at most 2^16
  int column_bits = 0;    // A tile has 2^column_bits columns; at most 16.
};

// A tile's share of x fills at most a quarter of the cache of a core.
TileShape tile_shape(std::int64_t core_cache_bytes, std::size_t value_bytes);

// Where a part lies in the CSR, and what x costs.
struct PartOfCsr {
  std::span<const std::int32_t> row_ptr;
  std::span<const std::int32_t> col_idx;
  std::int64_t cols = 0;
  std::int64_t first_row = 0, last_row = 0;  // the whole rows of the part: [first_row, last_row)

  std::int64_t nonzeros() const { return row_ptr[last_row] - row_ptr[first_row]; }
};

// Whether the part multiplies faster in tiles of `shape` than in the order of its rows. Looks at
// 2^19 columns at most.
bool pays_in_tiles(const PartOfCsr& part, TileShape shape, std::int64_t core_cache_bytes,
                   std::size_t value_bytes);

// Stores the whole rows of `part` in tiles. Takes O(nnz) time and 8 bytes per nonzero, beside the
// values.
void build_tiles(const PartOfCsr& source, TileShape shape, Part& part);

}  // namespace trireme::albus
