// SPDX-License-Identifier: BSD-3-Clause
// Multiplies the tiles of a part. Like every -inl file of Highway, this file is included once per
// SIMD target: by simd.cpp.
#if defined(TRIREME_ALBUS_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_ALBUS_TILES_INL
#undef TRIREME_ALBUS_TILES_INL
#else
#define TRIREME_ALBUS_TILES_INL
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/albus/layout.hpp"
#include "kernels/albus/runs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): Highway includes this file per instruction set.

// Where row i of a run of a tile lies.
struct InTile {
  const std::uint16_t* rows;
  std::int64_t first_nonzero;
  std::int32_t length;
  HWY_INLINE std::int64_t nonzero(std::int32_t i) const {
    return first_nonzero + std::int64_t{length} * i;
  }
  HWY_INLINE std::int64_t row(std::int32_t i) const { return rows[i]; }
};

template <class Stored, class Value, class Result>
HWY_INLINE void MultiplyTile(const Operands<Stored, Value, std::uint16_t, Result> a, const Run* run,
                             const Run* last, const std::uint16_t* rows) {
  std::int64_t passed = 0;
  for (; run != last; ++run) {
    MultiplyRun(a, run->length, InTile{rows, passed, run->length}, run->count, passed);
    passed += std::int64_t{run->length} * run->count;
    rows += run->count;
  }
}

// Adds the tiles of a block to y, which begins at the block's first row.
template <class Stored, class Value, class Result>
HWY_INLINE void MultiplyBlock(const Layout<Stored>& layout, const Part& part,
                              const TileBlock& block, const Value* x, Result* y) {
  constexpr auto kValuesPerLine = static_cast<std::int64_t>(kCacheLine / sizeof(Value));
  const Stored* values = layout.placed.data() + part.first_placed;
  for (std::int32_t t = block.first_tile; t < block.first_tile + block.tiles; ++t) {
    const Tile& tile = part.tiles[t];
    const std::int64_t columns = std::min(layout.tile_columns, layout.cols - tile.first_column);
    // Where most lines of this share of x are needed, they come faster as a stream.
    if (tile.nonzeros > columns / kValuesPerLine) PrefetchRange(x + tile.first_column, columns);
    MultiplyTile(
        Operands<Stored, Value, std::uint16_t, Result>{
            values + tile.first_nonzero, part.tile_columns.data() + tile.first_nonzero,
            x + tile.first_column, y, kAhead, 0, layout.fetch_rows, true},
        part.runs.data() + tile.first_run, part.runs.data() + tile.first_run + tile.runs,
        part.tile_rows.data() + tile.first_slot);
  }
}

// Each run of a tile adds to y. Where y is narrower than the sums, the sums of a block are kept
// apart until its last tile, so that a row is rounded once.
template <class Stored, class Value>
HWY_INLINE void MultiplyTiles(const Layout<Stored>& layout, const Part& part, const Value* x,
                              Value* y, bool add) {
  for (const TileBlock& block : part.blocks) {
    Value* const block_y = y + block.first_row;
    if constexpr (std::is_same_v<Value, HostLaneOf<Value>>) {
      if (!add) std::fill(block_y, block_y + block.rows, Value{});
      MultiplyBlock(layout, part, block, x, block_y);
    } else {
      HostLaneOf<Value>* const sums = part.block_sums.data();
      if (add)
        std::copy(block_y, block_y + block.rows, sums);
      else
        std::fill(sums, sums + block.rows, HostLaneOf<Value>{});
      MultiplyBlock(layout, part, block, x, sums);
      for (std::int32_t row = 0; row < block.rows; ++row)
        block_y[row] = static_cast<Value>(sums[row]);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
