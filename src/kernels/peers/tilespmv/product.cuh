// SPDX-License-Identifier: BSD-3-Clause
// The product of one task by one warp: TileSpMV's warp-level products of tiles (Niu et al. 2021,
// section III), for all seven formats.
//
// The warp reads the descriptions of 32 tiles at once, one per lane. Then it works in two ways:
//
//   COO     The entries of all COO tiles among the 32 follow each other, one per lane. Entries of
//           the same row find each other by a warp vote. The lowest lane of them adds up their
//           products.
//   others  Each half of the warp takes a tile of its own. Lane r of a half has the sum of row r:
//
//           lanes  0 .. 15  tile t    row 0 .. 15  ELL, Dns, DnsCol: entry j of all rows at once,
//           lanes 16 .. 31  tile t+1  row 0 .. 15  with unit stride. CSR: each lane its own row.
//                                                  DnsRow: lane c has column c; 16 lanes add up.
//
// The paper gives a whole warp to each tile. Half a warp fits the 16 rows of a tile, and two tiles
// have their loads in flight at the same time. The paper adds COO entries atomically; here no sum
// is atomic, and every order of additions is fixed, so that the result has the same bits in each
// run.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "kernels/numeric.cuh"
#include "kernels/peers/tilespmv/device_layout.hpp"

namespace trireme::tilespmv {

// A view of the arrays of DeviceLayout.
template <class Stored>
struct DeviceTiles {
  std::int64_t rows, cols;
  const std::int32_t* __restrict__ tile_ptr;
  const std::int32_t* __restrict__ tile_col_idx;
  const Format* __restrict__ tile_format;
  const std::uint32_t* __restrict__ tile_nnz;
  const std::uint32_t* __restrict__ tile_index;
  const std::uint8_t* __restrict__ indices;
  const Stored* __restrict__ values;
  const std::int32_t* __restrict__ deferred_ptr;  // null where nothing is deferred
  const std::int32_t* __restrict__ deferred_col_idx;
  const Stored* __restrict__ deferred_values;
};

// The shared memory of a warp. Each half has sums of its own, since both may add at the same time.
template <class Number>
struct WarpMemory {
  Number products[32];
  Number sums[2][kTile];
};

// What a lane knows of a tile.
struct TileHead {
  std::int32_t column;  // of tiles
  int format;           // kNoTile where the lane has none
  int stored;           // entries with padding
  bool masked;          // It has index bytes.
  std::uint32_t value;  // first stored entry
  std::uint32_t index;  // first index byte
};
inline constexpr int kNoTile = -1;

__device__ __forceinline__ TileHead head_of_lane(const TileHead& mine, int lane) {
  return {__shfl_sync(kFullWarp, mine.column, lane),
          __shfl_sync(kFullWarp, mine.format, lane),
          __shfl_sync(kFullWarp, mine.stored, lane),
          __shfl_sync(kFullWarp, static_cast<int>(mine.masked), lane) != 0,
          __shfl_sync(kFullWarp, mine.value, lane),
          __shfl_sync(kFullWarp, mine.index, lane)};
}

template <class Stored, class Vector>
class WarpProduct {
 public:
  using Number = Sum<Vector>;

  __device__ WarpProduct(const DeviceTiles<Stored>& a, const Vector* x, WarpMemory<Number>& memory)
      : a_(a), x_(x), memory_(memory) {}

  // Returns, in lanes 0 to 15, the sums of the rows of the task.
  __device__ __forceinline__ Number multiply(const Task& task) {
    height_ = tile_size(a_.rows, task.tile_row);
    sum_ = Number{};
    memory_.sums[half()][row()] = Number{};
    __syncwarp();
    const std::int32_t first = a_.tile_ptr[task.tile_row];
    const std::int32_t tiles = a_.tile_ptr[task.tile_row + 1] - first;
    const std::int32_t end = first + part_of(tiles, task.part + 1, task.parts);
    for (std::int32_t at = first + part_of(tiles, task.part, task.parts); at < end; at += 32) {
      const TileHead mine = read_head(at + lane(), end);
      add_coo_tiles(mine);
      add_other_tiles(mine);
    }
    if (a_.deferred_ptr) add_deferred(task);
    __syncwarp();
    const Number sum = sum_ + memory_.sums[half()][row()];
    __syncwarp();  // The memory is used again.
    return sum + __shfl_down_sync(kFullWarp, sum, kTile);
  }

 private:
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int half() { return lane() / kTile; }
  __device__ static int row() { return lane() % kTile; }
  __device__ static unsigned half_mask() { return 0xffffu << kTile * half(); }

  // The first element of part number `part` of `parts` equal parts.
  __device__ static std::int32_t part_of(std::int32_t count, std::int32_t part,
                                         std::int32_t parts) {
    return parts == 1 ? part * count
                      : static_cast<std::int32_t>(static_cast<std::int64_t>(count) * part / parts);
  }

  __device__ __forceinline__ TileHead read_head(std::int32_t at, std::int32_t end) const {
    if (at >= end) return {0, kNoTile, 0, false, 0, 0};
    const std::uint32_t value = a_.tile_nnz[at], index = a_.tile_index[at];
    return {a_.tile_col_idx[at],
            static_cast<int>(a_.tile_format[at]),
            static_cast<int>(a_.tile_nnz[at + 1] - value),
            a_.tile_index[at + 1] != index,
            value,
            index};
  }

  __device__ __forceinline__ const Vector* x_of(std::int32_t tile_column) const {
    return x_ + static_cast<std::int64_t>(kTile) * tile_column;
  }

  // Adds a product to the sum of a row, for each lane of `mask` where `row` is not negative. All
  // lanes of `mask` call it: the warp or one half. The rows are in any order.
  __device__ __forceinline__ void add_products(unsigned mask, int row, Number product) {
    Number* sums = memory_.sums[mask == kFullWarp ? 0 : half()];
    const unsigned peers = __match_any_sync(mask, row);
    if (peers == kFullWarp) {
      product = warp_sum(product);
      if (lane() == 0 && row >= 0) sums[row] += product;
      __syncwarp();
      return;
    }
    memory_.products[lane()] = product;
    __syncwarp(mask);
    if (row >= 0 && lane() == __ffs(static_cast<int>(peers)) - 1) {
      Number sum{};
      for (unsigned left = peers; left != 0; left &= left - 1)
        sum += memory_.products[__ffs(static_cast<int>(left)) - 1];
      sums[row] += sum;
    }
    __syncwarp(mask);
  }

  // All lanes call it; `mine` is the tile of this lane.
  __device__ __forceinline__ void add_coo_tiles(const TileHead& mine) {
    const int count = mine.format == static_cast<int>(Format::coo) ? mine.stored : 0;
    int end = count;  // of the entries of this lane's tile among those of all COO tiles
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const int before = __shfl_up_sync(kFullWarp, end, offset);
      if (lane() >= offset) end += before;
    }
    const int total = __shfl_sync(kFullWarp, end, 31);
    for (int base = 0; base < total; base += 32) {
      const int k = base + lane();
      int tile = 0;  // the lane whose tile has entry k
#pragma unroll
      for (int step = 16; step > 0; step /= 2)
        if (__shfl_sync(kFullWarp, end, tile + step - 1) <= k) tile += step;
      const int in_tile = k - __shfl_sync(kFullWarp, end - count, tile);
      const std::uint32_t value = __shfl_sync(kFullWarp, mine.value, tile);
      const std::uint32_t index = __shfl_sync(kFullWarp, mine.index, tile);
      const std::int32_t column = __shfl_sync(kFullWarp, mine.column, tile);
      int place = -1;
      Number product{};
      if (k < total) {
        place = a_.indices[index + in_tile];
        product = load_once<Number>(a_.values + value + in_tile) *
                  load<Number>(x_of(column) + place % kTile);
      }
      add_products(kFullWarp, place < 0 ? -1 : place / kTile, product);
    }
  }

  // All lanes call it. Each half takes every second tile that is not COO.
  __device__ __forceinline__ void add_other_tiles(const TileHead& mine) {
    unsigned left = __ballot_sync(
        kFullWarp, mine.format != kNoTile && mine.format != static_cast<int>(Format::coo));
    while (left != 0) {
      const int first = __ffs(static_cast<int>(left)) - 1;
      left &= left - 1;
      const int second = left != 0 ? __ffs(static_cast<int>(left)) - 1 : first;
      left &= left - 1;  // 0 stays 0
      const TileHead tile = head_of_lane(mine, half() == 0 ? first : second);
      if (half() == 0 || second != first) add_tile(tile);
      __syncwarp();
    }
  }

  // The lanes of one half call it.
  __device__ __forceinline__ void add_tile(const TileHead& tile) {
    const Stored* values = a_.values + tile.value;
    const std::uint8_t* indices = a_.indices + tile.index;
    const Vector* x = x_of(tile.column);
    switch (static_cast<Format>(tile.format)) {
      case Format::csr:
        return add_csr(values, indices, tile.stored, x);
      case Format::ell:
        return add_ell(values, indices, lines(tile.stored, height_), x);
      case Format::hyb:
        return add_hyb(values, indices, tile.stored, x);
      case Format::dns:
        return tile.masked ? add_dns<true>(values, indices, lines(tile.stored, height_), x)
                           : add_dns<false>(values, indices, lines(tile.stored, height_), x);
      case Format::dns_row:
        return add_dns_row(values, indices, tile.stored, tile_size(a_.cols, tile.column), x);
      case Format::dns_col:
        return add_dns_col(values, indices, lines(tile.stored, height_), x);
      case Format::coo:
        return;
    }
  }

  // The number of columns (or rows) of `length` entries in a tile.
  __device__ static int lines(int stored, int length) {
    return length == kTile ? stored / kTile : stored / length;
  }

  __device__ __forceinline__ void add_csr(const Stored* values, const std::uint8_t* indices,
                                          int stored, const Vector* x) {
    if (row() >= height_) return;
    const int end = row() + 1 < kTile ? indices[row() + 1] : stored;
    for (int k = indices[row()]; k < end; ++k)
      sum_ += load<Number>(values + k) * load<Number>(x + packed(indices + kTile, k));
  }

  __device__ __forceinline__ void add_ell(const Stored* values, const std::uint8_t* columns,
                                          int width, const Vector* x) {
    if (row() >= height_) return;
#pragma unroll 4
    for (int j = 0; j < width; ++j) {
      const int k = j * height_ + row();
      sum_ += load_once<Number>(values + k) * load<Number>(x + packed(columns, k));
    }
  }

  __device__ __forceinline__ void add_hyb(const Stored* values, const std::uint8_t* indices,
                                          int stored, const Vector* x) {
    const int width = indices[0];
    const int ell = width * height_;
    add_ell(values, indices + 1, width, x);
    __syncwarp(half_mask());
    const std::uint8_t* places = indices + 1 + packed_bytes(ell);
    for (int base = 0; base < stored - ell; base += kTile) {
      const int k = base + row();
      int place = -1;
      Number product{};
      if (k < stored - ell) {
        place = places[k];
        product = load_once<Number>(values + ell + k) * load<Number>(x + place % kTile);
      }
      add_products(half_mask(), place < 0 ? -1 : place / kTile, product);
    }
  }

  template <bool masked>
  __device__ __forceinline__ void add_dns(const Stored* values, const std::uint8_t* masks,
                                          int width, const Vector* x) {
    if (row() >= height_) return;
#pragma unroll 4
    for (int column = 0; column < width; ++column) {
      const Number value = load_once<Number>(values + column * height_ + row());
      if (!masked || (masks[2 * column + row() / 8] >> row() % 8 & 1) != 0)
        sum_ += value * load<Number>(x + column);
    }
  }

  // Lane c of the half has column c.
  __device__ __forceinline__ void add_dns_row(const Stored* values, const std::uint8_t* rows,
                                              int stored, int width, const Vector* x) {
    const bool inside = row() < width;
    const Number x_here = inside ? load<Number>(x + row()) : Number{};
    const int count = lines(stored, width);
    for (int line = 0; line < count; ++line) {
      Number product =
          inside ? load_once<Number>(values + line * width + row()) * x_here : Number{};
#pragma unroll
      for (int offset = kTile / 2; offset > 0; offset /= 2)
        product += __shfl_xor_sync(half_mask(), product, offset);
      if (packed(rows, line) == row()) sum_ += product;
    }
  }

  __device__ __forceinline__ void add_dns_col(const Stored* values, const std::uint8_t* columns,
                                              int count, const Vector* x) {
    if (row() >= height_) return;
#pragma unroll 4
    for (int line = 0; line < count; ++line)
      sum_ += load_once<Number>(values + line * height_ + row()) *
              load<Number>(x + packed(columns, line));
  }

  // All lanes call it. The deferred entries of 16 rows follow each other, one per lane.
  __device__ __forceinline__ void add_deferred(const Task& task) {
    const std::int64_t first_row = static_cast<std::int64_t>(kTile) * task.tile_row;
    // Lane r has the first deferred entry of row r of the tile, or the end of the last row.
    const std::int32_t start = a_.deferred_ptr[first_row + min(lane(), height_)];
    const std::int32_t first = __shfl_sync(kFullWarp, start, 0);
    const std::int32_t count = __shfl_sync(kFullWarp, start, kTile) - first;
    const std::int32_t end = first + part_of(count, task.part + 1, task.parts);
    for (std::int64_t base = first + part_of(count, task.part, task.parts); base < end;
         base += 32) {
      const std::int64_t k = base + lane();
      int row = 0;
#pragma unroll
      for (int step = kTile / 2; step > 0; step /= 2)
        if (__shfl_sync(kFullWarp, start, row + step) <= k) row += step;
      Number product{};
      if (k < end)
        product = load_once<Number>(a_.deferred_values + k) *
                  load<Number>(x_ + __ldcs(a_.deferred_col_idx + k));
      add_products(kFullWarp, k < end ? row : -1, product);
    }
  }

  const DeviceTiles<Stored>& a_;
  const Vector* x_;
  WarpMemory<Number>& memory_;
  int height_ = kTile;  // rows of the tiles of the task
  Number sum_{};        // of this lane's row, over the tiles of its half that are not COO
};

}  // namespace trireme::tilespmv
