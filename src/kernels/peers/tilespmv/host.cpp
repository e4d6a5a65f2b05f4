// SPDX-License-Identifier: BSD-3-Clause
// The host executor, the readable specification of the CUDA executor. The OpenMP threads share the
// rows of tiles, each of which has 16 sums.
//
// The result is deterministic: the sum of a row takes the tiles by ascending column, the entries of
// a tile in the order of the layout, and then the deferred entries, whatever the number of threads.
#include <span>

#include "kernels/host_sum.hpp"
#include "kernels/peers/tilespmv/build.hpp"
#include "kernels/peers/tilespmv/tilespmv.hpp"

namespace trireme {
namespace tilespmv {
namespace {

// One tile of a layout and its part of x. Each add_...() adds the product to the sums of its rows.
template <class Value>
struct Tile {
  Format format;
  int height, width;
  int stored;  // entries with padding
  const Value* values;
  const std::uint8_t* indices;
  const std::uint8_t* indices_end;
  const Value* x;
};

template <class Value>
using Sums = HostSumOf<Value>[kTile];

template <class Value>
void add_csr(const Tile<Value>& tile, Sums<Value>& sums) {
  const std::uint8_t* starts = tile.indices;
  const std::uint8_t* columns = tile.indices + kTile;
  for (int row = 0; row < tile.height; ++row) {
    const int end = row + 1 < kTile ? starts[row + 1] : tile.stored;
    for (int k = starts[row]; k < end; ++k)
      sums[row] += term_of_sum(tile.values[k], tile.x[packed(columns, k)]);
  }
}

template <class Value>
void add_coo(const Value* values, const std::uint8_t* places, int count, const Value* x,
             Sums<Value>& sums) {
  for (int k = 0; k < count; ++k)
    sums[places[k] / kTile] += term_of_sum(values[k], x[places[k] % kTile]);
}

template <class Value>
void add_ell(const Tile<Value>& tile, const std::uint8_t* columns, int width, Sums<Value>& sums) {
  for (int j = 0; j < width; ++j)
    for (int row = 0; row < tile.height; ++row) {
      const int k = j * tile.height + row;
      sums[row] += term_of_sum(tile.values[k], tile.x[packed(columns, k)]);
    }
}

template <class Value>
void add_hyb(const Tile<Value>& tile, Sums<Value>& sums) {
  const int width = tile.indices[0];
  const int ell = width * tile.height;
  add_ell(tile, tile.indices + 1, width, sums);
  add_coo(tile.values + ell, tile.indices + 1 + packed_bytes(ell), tile.stored - ell, tile.x, sums);
}

template <class Value>
void add_dns(const Tile<Value>& tile, Sums<Value>& sums) {
  const bool full = tile.indices == tile.indices_end;
  for (int column = 0; column < tile.width; ++column) {
    const int mask = full ? 0xffff : tile.indices[2 * column] | tile.indices[2 * column + 1] << 8;
    for (int row = 0; row < tile.height; ++row)
      if (mask >> row & 1)
        sums[row] += term_of_sum(tile.values[column * tile.height + row], tile.x[column]);
  }
}

template <class Value>
void add_dns_row(const Tile<Value>& tile, Sums<Value>& sums) {
  for (int line = 0; line < tile.stored / tile.width; ++line) {
    HostSumOf<Value>& sum = sums[packed(tile.indices, line)];
    for (int column = 0; column < tile.width; ++column)
      sum += term_of_sum(tile.values[line * tile.width + column], tile.x[column]);
  }
}

template <class Value>
void add_dns_col(const Tile<Value>& tile, Sums<Value>& sums) {
  for (int line = 0; line < tile.stored / tile.height; ++line) {
    const Value x = tile.x[packed(tile.indices, line)];
    for (int row = 0; row < tile.height; ++row)
      sums[row] += term_of_sum(tile.values[line * tile.height + row], x);
  }
}

template <class Value>
void add_tile(const Tile<Value>& tile, Sums<Value>& sums) {
  switch (tile.format) {
    case Format::csr:
      return add_csr(tile, sums);
    case Format::coo:
      return add_coo(tile.values, tile.indices, tile.stored, tile.x, sums);
    case Format::ell:
      return add_ell(tile, tile.indices, tile.stored / tile.height, sums);
    case Format::hyb:
      return add_hyb(tile, sums);
    case Format::dns:
      return add_dns(tile, sums);
    case Format::dns_row:
      return add_dns_row(tile, sums);
    case Format::dns_col:
      return add_dns_col(tile, sums);
  }
}

template <class Value>
Tile<Value> tile_of(const Layout<Value>& a, std::int64_t tile_row, std::int64_t at,
                    std::span<const Value> x) {
  const std::int32_t column = a.tile_col_idx[at];
  return {.format = a.tile_format[at],
          .height = tile_size(a.rows, tile_row),
          .width = tile_size(a.cols, column),
          .stored = static_cast<int>(a.tile_nnz[at + 1] - a.tile_nnz[at]),
          .values = a.values.data() + a.tile_nnz[at],
          .indices = a.indices.data() + a.tile_index[at],
          .indices_end = a.indices.data() + a.tile_index[at + 1],
          .x = x.data() + std::int64_t{kTile} * column};
}

template <class Value>
void add_deferred(const Layout<Value>& a, std::int64_t row, std::span<const Value> x,
                  HostSumOf<Value>& sum) {
  for (std::int32_t k = a.deferred_ptr[row]; k < a.deferred_ptr[row + 1]; ++k)
    sum += term_of_sum(a.deferred_values()[k], x[a.deferred_col_idx[k]]);
}

template <class Value>
void multiply(const Layout<Value>& a, std::span<const Value> x, std::span<Value> y, bool add) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t tile_row = 0; tile_row < a.tile_rows(); ++tile_row) {
    Sums<Value> sums = {};
    for (std::int64_t at = a.tile_ptr[tile_row]; at < a.tile_ptr[tile_row + 1]; ++at)
      add_tile(tile_of(a, tile_row, at, x), sums);
    for (int slot = 0; slot < tile_size(a.rows, tile_row); ++slot) {
      const std::int64_t row = tile_row * kTile + slot;
      if (a.defers()) add_deferred(a, row, x, sums[slot]);
      store_or_add(y[row], sums[slot], add);
    }
  }
}

template <class T>
std::int64_t bytes_of(const Array<T>& array) {
  return static_cast<std::int64_t>(array.size() * sizeof(T));
}

template <class Value>
std::int64_t stored_bytes(const Layout<Value>& a) {
  return bytes_of(a.tile_ptr) + bytes_of(a.tile_col_idx) + bytes_of(a.tile_format) +
         bytes_of(a.tile_nnz) + bytes_of(a.tile_index) + bytes_of(a.indices) + bytes_of(a.values) +
         bytes_of(a.deferred_ptr) + bytes_of(a.deferred_col_idx);
}

}  // namespace
}  // namespace tilespmv

namespace {

template <class Value>
class TileSpmvHost final : public HostKernel<Value> {
 public:
  explicit TileSpmvHost(const CsrView<Value>& matrix) : built_(tilespmv::build(matrix)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    tilespmv::multiply(built_.layout, x, y, accumulate == Accumulate::yes);
  }

  void update_values(std::span<const Value> values) override {
    tilespmv::store_values(values, built_);
  }

  KernelStatistics statistics() const override {
    const tilespmv::Layout<Value>& a = built_.layout;
    const auto stored = static_cast<double>(a.values.size());
    return {.stored_bytes = tilespmv::stored_bytes(a),
            .padding_ratio = a.nnz > 0 ? stored / static_cast<double>(a.nnz) - 1 : 0.0,
            .steps = built_.steps};
  }

 private:
  tilespmv::Built<Value> built_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_tilespmv_host(const CsrView<Value>& matrix) {
  return std::make_unique<TileSpmvHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_tilespmv_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_tilespmv_host(const CsrView<float>&);

}  // namespace trireme
