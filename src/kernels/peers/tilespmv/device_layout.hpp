// SPDX-License-Identifier: BSD-3-Clause
// The TileSpMV layout in GPU memory, with the tasks of the warps. Its arrays are those of
// layout.hpp, built on the GPU. This header compiles without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/peers/tilespmv/layout.hpp"

namespace trireme::tilespmv {

// A row of tiles with more tiles or entries than this is the work of several warps.
inline constexpr std::int64_t kTaskTiles = 32;
inline constexpr std::int64_t kTaskEntries = 2048;

// The share of one warp: an equal part of the tiles and of the deferred entries of a row of tiles.
// The tasks of a row follow each other.
struct alignas(16) Task {
  std::int32_t tile_row;
  std::int32_t part, parts;  // part number `part` of `parts`
  std::int32_t split_row;    // where parts > 1: the number of the row among those with parts > 1
};

// The number of tasks of a row of tiles.
constexpr std::int32_t tasks_of(std::int64_t tiles, std::int64_t entries) {
  const std::int64_t by_tiles = (tiles + kTaskTiles - 1) / kTaskTiles;
  const std::int64_t by_entries = (entries + kTaskEntries - 1) / kTaskEntries;
  const std::int64_t tasks = by_tiles > by_entries ? by_tiles : by_entries;
  return static_cast<std::int32_t>(tasks > 1 ? tasks : 1);
}

// Owns its arrays. The comments give the number of elements. Stored is the type of the values.
template <class Stored>
struct DeviceLayout {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::int64_t tiles = 0;
  std::int64_t tile_values = 0;  // the stored entries of the tiles
  DeviceBuffer<std::int32_t> tile_ptr, tile_col_idx;
  DeviceBuffer<Format> tile_format;
  DeviceBuffer<std::uint32_t> tile_nnz, tile_index;
  DeviceBuffer<std::uint8_t> indices;
  DeviceBuffer<Stored> values;
  DeviceBuffer<std::int32_t> deferred_ptr, deferred_col_idx;
  DeviceBuffer<std::uint32_t> position;  // nnz: where in `values` each value of the CSR lies
  DeviceBuffer<Task> tasks;              // at least one per row of tiles
  std::int64_t split_rows = 0;           // rows of tiles with more than one task
  std::vector<BuildStep> steps;          // the first one is named by describe() of build.hpp

  std::int64_t tile_rows() const { return tiles_along(rows); }
  std::int64_t stored_bytes() const;  // of all arrays but `position`
};

// Sorts the nonzeros by tile, which takes 36 bytes of scratch memory per nonzero. Synchronises
// `stream`. Throws Error{resource} when the layout does not fit into device memory. Stored may be
// narrower than Value.
template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream);

// Stores new values, which are in the order of the CSR. Asynchronous in `stream`.
template <class Stored, class Value>
void store_device_values(DeviceSpan<const Value> values, DeviceLayout<Stored>& layout,
                         StreamRef stream);

}  // namespace trireme::tilespmv
