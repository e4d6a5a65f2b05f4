// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels that build the TileSpMV layout. Each one has one thread per element, so that all
// arrays are written without conflicts, except where a comment says otherwise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/peers/tilespmv/build.hpp"
#include "kernels/peers/tilespmv/device_layout.hpp"
#include "kernels/peers/tilespmv/write_tile.hpp"

namespace trireme::tilespmv {

inline constexpr int kBuildThreads = 256;
inline constexpr int kPlaceBits = 8;

inline unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kBuildThreads - 1) / kBuildThreads);
}

__device__ __forceinline__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// The first k in [0, count) for which at_least(k) holds, or count. at_least is false and then true.
template <class AtLeast>
__device__ __forceinline__ std::int64_t first_true(std::int64_t count, AtLeast&& at_least) {
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (at_least(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// A key sorts entries by row of tiles, column of tiles, and place in the tile:
//   row of tiles | column of tiles (column_bits) | place (8 bits)
struct Keys {
  std::int64_t rows, cols;
  int column_bits;

  __device__ std::uint64_t key(std::int64_t row, std::int32_t column) const {
    const auto tile = static_cast<std::uint64_t>(row / kTile) << column_bits |
                      static_cast<std::uint64_t>(column / kTile);
    return tile << kPlaceBits | place_of(static_cast<int>(row % kTile), column % kTile);
  }
  __device__ std::int64_t tile_row(std::uint64_t key) const {
    return static_cast<std::int64_t>(key >> kPlaceBits >> column_bits);
  }
  __device__ std::int32_t tile_column(std::uint64_t key) const {
    const std::uint64_t mask = (std::uint64_t{1} << column_bits) - 1;
    return static_cast<std::int32_t>(key >> kPlaceBits & mask);
  }
  __device__ static std::uint8_t place(std::uint64_t key) {
    return static_cast<std::uint8_t>(key & 0xff);
  }
};

// The entries of one tile, as write_tile.hpp takes them.
struct KeyedTile {
  const std::uint64_t* keys;
  const std::int32_t* entries;
  std::int32_t count;

  constexpr std::int32_t size() const { return count; }
  constexpr std::uint8_t place(std::int32_t k) const {
    return static_cast<std::uint8_t>(keys[k] & 0xff);
  }
  constexpr std::int32_t entry(std::int32_t k) const { return entries[k]; }
};

// All entries, sorted by key, and the tiles in them.
struct SortedEntries {
  Keys layout;
  const std::uint64_t* keys;
  const std::int32_t* entries;      // the number in the CSR
  const std::int32_t* first_entry;  // tiles + 1

  __device__ std::uint64_t key_of_tile(std::int64_t tile) const { return keys[first_entry[tile]]; }
  __device__ KeyedTile tile(std::int64_t tile) const {
    const std::int32_t first = first_entry[tile];
    return {keys + first, entries + first, first_entry[tile + 1] - first};
  }
  __device__ TileCounts counts(std::int64_t tile_number) const {
    const std::uint64_t key = key_of_tile(tile_number);
    return count_entries(tile(tile_number), tile_size(layout.rows, layout.tile_row(key)),
                         tile_size(layout.cols, layout.tile_column(key)));
  }
};

__device__ __forceinline__ bool very_sparse(const std::int32_t* first_entry, std::int64_t tile) {
  return first_entry[tile + 1] - first_entry[tile] <= kMaxDeferredEntries;
}

static __global__ void make_keys(Keys layout, std::int64_t nnz,
                                 const std::int32_t* __restrict__ row_ptr,
                                 const std::int32_t* __restrict__ col_idx,
                                 std::uint64_t* __restrict__ keys,
                                 std::int32_t* __restrict__ entries) {
  const std::int64_t k = thread_number();
  if (k >= nnz) return;
  const std::int64_t row =
      first_true(layout.rows, [&](std::int64_t r) { return row_ptr[r + 1] > k; });
  keys[k] = layout.key(row, col_idx[k]);
  entries[k] = static_cast<std::int32_t>(k);
}

static __global__ void flag_first_entries(std::int64_t nnz, const std::uint64_t* __restrict__ keys,
                                          std::uint8_t* __restrict__ flags) {
  const std::int64_t k = thread_number();
  if (k >= nnz) return;
  flags[k] = k == 0 || keys[k] >> kPlaceBits != keys[k - 1] >> kPlaceBits;
}

// The sum over tiles in `saved` is one of integers, whose order does not matter.
static __global__ void plan_tiles(SortedEntries sorted, std::int64_t tiles, int value_bytes,
                                  TilePlan* __restrict__ plans,
                                  unsigned long long* __restrict__ saved) {
  const std::int64_t tile = thread_number();
  if (tile >= tiles) return;
  const TileCounts counts = sorted.counts(tile);
  plans[tile] = plan_tile(counts, value_bytes);
  if (counts.entries <= kMaxDeferredEntries)
    atomicAdd(saved, static_cast<unsigned long long>(bytes_saved(counts.entries)));
}

static __global__ void flag_kept_tiles(std::int64_t tiles,
                                       const std::int32_t* __restrict__ first_entry, bool defers,
                                       std::int32_t* __restrict__ kept) {
  const std::int64_t tile = thread_number();
  if (tile > tiles) return;
  kept[tile] = tile < tiles && !(defers && very_sparse(first_entry, tile));
}

static __global__ void find_tile_rows(SortedEntries sorted, std::int64_t tiles,
                                      std::int64_t tile_rows,
                                      const std::int32_t* __restrict__ place,
                                      std::int32_t* __restrict__ tile_ptr) {
  const std::int64_t row = thread_number();
  if (row > tile_rows) return;
  tile_ptr[row] = place[first_true(tiles, [&](std::int64_t tile) {
    return sorted.layout.tile_row(sorted.key_of_tile(tile)) >= row;
  })];
}

// Stores sizes in tile_nnz and tile_index, whose sums are taken later.
static __global__ void lay_level_1(SortedEntries sorted, std::int64_t tiles,
                                   const TilePlan* __restrict__ plans,
                                   const std::int32_t* __restrict__ place,
                                   std::int32_t* __restrict__ tile_col_idx,
                                   Format* __restrict__ tile_format,
                                   std::uint32_t* __restrict__ tile_nnz,
                                   std::uint32_t* __restrict__ tile_index) {
  const std::int64_t tile = thread_number();
  if (tile > tiles) return;
  const std::int32_t to = place[tile];
  if (tile == tiles) {
    tile_nnz[to] = tile_index[to] = 0;
    return;
  }
  if (place[tile + 1] == to) return;  // deferred
  tile_col_idx[to] = sorted.layout.tile_column(sorted.key_of_tile(tile));
  tile_format[to] = plans[tile].format;
  tile_nnz[to] = static_cast<std::uint32_t>(plans[tile].stored);
  tile_index[to] = static_cast<std::uint32_t>(plans[tile].index_bytes);
}

// Stores where each value of the CSR lies.
struct StorePosition {
  std::uint32_t* position;
  std::uint32_t first;  // the first stored entry of the tile

  constexpr void operator()(std::int32_t entry, int k) const {
    position[entry] = first + static_cast<std::uint32_t>(k);
  }
};

static __global__ void write_kept_tiles(SortedEntries sorted, std::int64_t tiles,
                                        const TilePlan* __restrict__ plans,
                                        const std::int32_t* __restrict__ place,
                                        const std::uint32_t* __restrict__ tile_nnz,
                                        const std::uint32_t* __restrict__ tile_index,
                                        std::uint8_t* __restrict__ indices,
                                        std::uint32_t* __restrict__ position) {
  const std::int64_t tile = thread_number();
  if (tile >= tiles) return;
  const std::int32_t to = place[tile];
  if (place[tile + 1] == to) return;  // deferred
  write_tile(sorted.tile(tile), sorted.counts(tile), plans[tile], indices + tile_index[to],
             StorePosition{position, tile_nnz[to]});
}

static __global__ void flag_deferred_entries(std::int64_t tiles,
                                             const std::int32_t* __restrict__ first_entry,
                                             std::uint8_t* __restrict__ flags) {
  const std::int64_t tile = thread_number();
  if (tile >= tiles || !very_sparse(first_entry, tile)) return;
  for (std::int32_t k = first_entry[tile]; k < first_entry[tile + 1]; ++k) flags[k] = 1;
}

static __global__ void rows_of_deferred(SortedEntries sorted, std::int64_t count,
                                        const std::int32_t* __restrict__ at,
                                        std::uint32_t* __restrict__ rows) {
  const std::int64_t k = thread_number();
  if (k >= count) return;
  const std::uint64_t key = sorted.keys[at[k]];
  rows[k] =
      static_cast<std::uint32_t>(sorted.layout.tile_row(key) * kTile + row_of(Keys::place(key)));
}

static __global__ void find_deferred_rows(std::int64_t rows, std::int64_t count,
                                          const std::uint32_t* __restrict__ sorted_rows,
                                          std::int32_t* __restrict__ deferred_ptr) {
  const std::int64_t row = thread_number();
  if (row > rows) return;
  deferred_ptr[row] = static_cast<std::int32_t>(
      first_true(count, [&](std::int64_t k) { return sorted_rows[k] >= row; }));
}

static __global__ void lay_deferred(SortedEntries sorted, std::int64_t count,
                                    const std::int32_t* __restrict__ at, std::uint32_t first_value,
                                    std::int32_t* __restrict__ col_idx,
                                    std::uint32_t* __restrict__ position) {
  const std::int64_t k = thread_number();
  if (k >= count) return;
  const std::uint64_t key = sorted.keys[at[k]];
  col_idx[k] = sorted.layout.tile_column(key) * kTile + column_of(Keys::place(key));
  position[sorted.entries[at[k]]] = first_value + static_cast<std::uint32_t>(k);
}

// Stores numbers of tasks, and whether the row is split; sums are taken later.
static __global__ void count_tasks(std::int64_t rows, const std::int32_t* __restrict__ tile_ptr,
                                   const std::uint32_t* __restrict__ tile_nnz,
                                   const std::int32_t* __restrict__ deferred_ptr,
                                   std::int32_t* __restrict__ tasks,
                                   std::int32_t* __restrict__ split) {
  const std::int64_t tile_row = thread_number();
  const std::int64_t tile_rows = tiles_along(rows);
  if (tile_row > tile_rows) return;
  tasks[tile_row] = split[tile_row] = 0;
  if (tile_row == tile_rows) return;
  const std::int32_t first = tile_ptr[tile_row], end = tile_ptr[tile_row + 1];
  std::int64_t entries = tile_nnz[end] - tile_nnz[first];
  if (deferred_ptr) {
    const std::int64_t row = tile_row * kTile;
    entries += deferred_ptr[row + tile_size(rows, tile_row)] - deferred_ptr[row];
  }
  tasks[tile_row] = tasks_of(end - first, entries);
  split[tile_row] = tasks[tile_row] > 1;
}

// One warp writes the tasks of a row of tiles.
static __global__ void lay_tasks(std::int64_t tile_rows,
                                 const std::int32_t* __restrict__ first_task,
                                 const std::int32_t* __restrict__ split, Task* __restrict__ tasks) {
  const std::int64_t tile_row = thread_number() / 32;
  if (tile_row >= tile_rows) return;
  const std::int32_t first = first_task[tile_row];
  const std::int32_t parts = first_task[tile_row + 1] - first;
  for (std::int32_t part = threadIdx.x % 32; part < parts; part += 32)
    tasks[first + part] = {static_cast<std::int32_t>(tile_row), part, parts, split[tile_row]};
}

template <class Stored, class Value>
__global__ void scatter_values(std::int64_t nnz, const Value* __restrict__ values,
                               const std::uint32_t* __restrict__ position,
                               Stored* __restrict__ stored) {
  const std::int64_t k = thread_number();
  if (k < nnz) stored[position[k]] = static_cast<Stored>(values[k]);
}

}  // namespace trireme::tilespmv
