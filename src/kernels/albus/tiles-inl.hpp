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

template <class Stored, class Value>
HWY_INLINE void MultiplyTile(const Operands<Stored, Value, std::uint16_t> a, const Run* run,
                             const Run* last, const std::uint16_t* rows) {
  std::int64_t passed = 0;
  for (; run != last; ++run) {
    MultiplyRun(a, run->length, InTile{rows, passed, run->length}, run->count, passed);
    passed += std::int64_t{run->length} * run->count;
    rows += run->count;
  }
}

template <class Stored, class Value>
HWY_INLINE void MultiplyTiles(const Layout<Stored>& layout, const Part& part, const Value* x,
                              Value* y, bool add) {
  constexpr auto kValuesPerLine = static_cast<std::int64_t>(kCacheLine / sizeof(Value));
  const Stored* values = layout.placed.data() + part.first_placed;
  for (const TileBlock& block : part.blocks) {
    Value* block_y = y + block.first_row;
    if (!add) std::fill(block_y, block_y + block.rows, Value{});
    for (std::int32_t t = block.first_tile; t < block.first_tile + block.tiles; ++t) {
      const Tile& tile = part.tiles[t];
      const std::int64_t columns = std::min(layout.tile_columns, layout.cols - tile.first_column);
      // Where most lines of this share of x are needed, they come faster as a stream.
      if (tile.nonzeros > columns / kValuesPerLine) PrefetchRange(x + tile.first_column, columns);
      MultiplyTile(
          Operands<Stored, Value, std::uint16_t>{
              values + tile.first_nonzero, part.tile_columns.data() + tile.first_nonzero,
              x + tile.first_column, block_y, kAhead, 0, layout.fetch_rows, true},
          part.runs.data() + tile.first_run, part.runs.data() + tile.first_run + tile.runs,
          part.tile_rows.data() + tile.first_slot);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
