// SPDX-License-Identifier: BSD-3-Clause
// Owns the cut of a CSR in device memory into tiles.
#pragma once

#include <algorithm>

#include "kernels/nnz_tile.cuh"

namespace trireme::albus {

namespace detail {
// The first row whose nonzeros start at or after the tile; rows for the end.
static __global__ void find_first_rows(std::int32_t rows, std::int32_t count,
                                       const std::int32_t* row_ptr, std::int32_t* first_row) {
  const std::int32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile > count) return;
  std::int32_t low = 0, high = rows;
  if (tile == count) low = rows;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (row_ptr[middle] < tile * kTile)
      low = middle + 1;
    else
      high = middle;
  }
  first_row[tile] = low;
}
}  // namespace detail

template <class Number>
class TileOwner {
 public:
  TileOwner() = default;
  // O(tiles log rows); asynchronous in `stream`. Number: what rows are summed in.
  TileOwner(std::int64_t rows, std::int64_t nnz, const std::int32_t* row_ptr, StreamRef stream)
      : rows_(static_cast<std::int32_t>(rows)), nnz_(static_cast<std::int32_t>(nnz)) {
    count_ = std::max<std::int32_t>(1, nnz_ / kTile + (nnz_ % kTile != 0));
    first_row_ = DeviceBuffer<std::int32_t>(count_ + 1, stream);
    parts_ = DeviceBuffer<Number>(2 * count_, stream);
    arrived_ = DeviceBuffer<std::uint32_t>(count_, stream);
    fill_zero(arrived_.span(), stream);
    detail::find_first_rows<<<count_ / 256 + 1, 256, 0, stream>>>(rows_, count_, row_ptr,
                                                                  first_row_.data());
    check_launch();
  }

  std::int32_t count() const { return count_; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(first_row_.size() * sizeof(std::int32_t));
  }

  template <class Value>
  Tiles<Value> tiles(const std::int32_t* row_ptr, const std::int32_t* col_idx, const Value* values,
                     const std::int32_t* row_map = nullptr) const {
    return {rows_,   nnz_,          count_,         row_ptr, col_idx, values, first_row_.data(),
            row_map, parts_.data(), arrived_.data()};
  }

 private:
  std::int32_t rows_ = 0, nnz_ = 0, count_ = 0;
  DeviceBuffer<std::int32_t> first_row_;
  DeviceBuffer<Number> parts_;
  DeviceBuffer<std::uint32_t> arrived_;
};

}  // namespace trireme::albus
