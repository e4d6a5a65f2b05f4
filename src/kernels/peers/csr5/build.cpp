// SPDX-License-Identifier: BSD-3-Clause
// Finds the first row of each tile, describes the tiles, and transposes the nonzeros.
#include "kernels/peers/csr5/build.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/stopwatch.hpp"

namespace trireme::csr5 {
namespace {

// The nonzeros [begin, end) of a tile.
struct Range {
  std::int64_t begin = 0, end = 0;
};

Range range_of(std::int64_t tile, std::int64_t nnz, TileShape shape) {
  const std::int64_t begin = tile * shape.entries();
  return {begin, std::min(begin + shape.entries(), nnz)};
}

// Calls visit(row, place) for each nonempty row that begins in the tile; `place` is that of its
// first nonzero, counted from the beginning of the tile. `row` is the row of the tile's first
// nonzero.
template <class Visit>
void for_each_start(std::span<const std::int32_t> row_ptr, std::int64_t row, Range tile,
                    Visit visit) {
  for (; row_ptr[row] < tile.end; ++row)
    if (row_ptr[row] >= tile.begin && row_ptr[row] < row_ptr[row + 1])
      visit(row, static_cast<int>(row_ptr[row] - tile.begin));
}

// Sets tile_ptr without marks.
template <class Value>
void find_first_rows(std::span<const std::int32_t> row_ptr, Layout<Value>& layout) {
  const std::int64_t tiles = (layout.nnz + layout.shape.entries() - 1) / layout.shape.entries();
  layout.tile_ptr.resize(tiles + 1);
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t begin = range_of(tile, layout.nnz, layout.shape).begin;
    const auto next = std::upper_bound(row_ptr.begin(), row_ptr.end(), begin);
    layout.tile_ptr[tile] = static_cast<std::uint32_t>(next - row_ptr.begin() - 1);
  }
  layout.tile_ptr[tiles] = static_cast<std::uint32_t>(layout.rows);
}

struct TileDescriptor {
  std::array<LaneDescriptor, kMaxOmega> lanes;
  int segments = 1;
  bool has_empty_rows = false;
};

TileDescriptor describe(std::span<const std::int32_t> row_ptr, std::int64_t first_row, Range range,
                        TileShape shape) {
  TileDescriptor tile;
  std::array<int, kMaxOmega> begun{1};  // segments that begin in each lane
  std::int64_t last_row = first_row;
  for_each_start(row_ptr, first_row, range, [&](std::int64_t row, int place) {
    tile.lanes[place / shape.sigma].bit_flag |= 1u << place % shape.sigma;
    if (place > 0) ++begun[place / shape.sigma];
    tile.has_empty_rows = tile.has_empty_rows || row > last_row + 1;
    last_row = row;
  });
  for (int lane = 1; lane < shape.omega; ++lane) {
    tile.lanes[lane].y_offset = tile.lanes[lane - 1].y_offset + begun[lane - 1];
    tile.segments += begun[lane];
  }
  tile.segments += begun[0] - 1;
  for (int lane = shape.omega - 2; lane >= 0; --lane)
    tile.lanes[lane].seg_offset = begun[lane + 1] > 0 ? 0 : tile.lanes[lane + 1].seg_offset + 1;
  return tile;
}

template <class Value>
void describe_tiles(std::span<const std::int32_t> row_ptr, Layout<Value>& layout) {
  const TileShape shape = layout.shape;
  const std::int64_t tiles = layout.tiles();
  const int words = descriptor_words(shape.sigma);
  layout.tile_desc.resize(tiles * words * shape.omega);
  layout.empty_offset_ptr.assign(tiles + 1, 0);
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t t = 0; t < tiles; ++t) {
    const TileDescriptor tile =
        describe(row_ptr, layout.first_row(t), range_of(t, layout.nnz, shape), shape);
    std::uint32_t* desc = layout.tile_desc.data() + t * words * shape.omega;
    for (int lane = 0; lane < shape.omega; ++lane) {
      desc[lane] = words == 1 ? pack_one_word(tile.lanes[lane]) : tile.lanes[lane].bit_flag;
      if (words == 2) desc[shape.omega + lane] = pack_offsets(tile.lanes[lane]);
    }
    if (!tile.has_empty_rows) continue;
    layout.tile_ptr[t] |= kEmptyRowsMark;
    layout.empty_offset_ptr[t + 1] = tile.segments;
  }
  for (std::int64_t t = 0; t < tiles; ++t)
    layout.empty_offset_ptr[t + 1] += layout.empty_offset_ptr[t];
}

template <class Value>
void find_empty_rows(std::span<const std::int32_t> row_ptr, Layout<Value>& layout) {
  for (std::int64_t row = 0; row < layout.rows; ++row)
    if (row_ptr[row] == row_ptr[row + 1])
      layout.empty_rows.push_back(static_cast<std::int32_t>(row));

  layout.empty_offset.resize(layout.empty_offset_ptr.back());
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t tile = 0; tile < layout.tiles(); ++tile) {
    if (!layout.has_empty_rows(tile)) continue;
    const std::int64_t first_row = layout.first_row(tile);
    std::int32_t* offset = layout.empty_offset.data() + layout.empty_offset_ptr[tile];
    *offset++ = 0;
    for_each_start(row_ptr, first_row, range_of(tile, layout.nnz, layout.shape),
                   [&](std::int64_t row, int place) {
                     if (place > 0) *offset++ = static_cast<std::int32_t>(row - first_row);
                   });
  }
}

// Stores the nonzeros of each tile step by step, and `padding` behind the last of them.
template <class T>
void transpose(std::span<const T> from, T padding, TileShape shape, Array<T>& to) {
  const auto count = static_cast<std::int64_t>(from.size());
  const auto tiles = static_cast<std::int64_t>(to.size()) / shape.entries();
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t begin = tile * shape.entries();
    for (std::int64_t step = 0; step < shape.sigma; ++step)
      for (std::int64_t lane = 0; lane < shape.omega; ++lane) {
        const std::int64_t k = begin + lane * shape.sigma + step;
        to[begin + step * shape.omega + lane] = k < count ? from[k] : padding;
      }
  }
}

}  // namespace

template <class Value>
void transpose_values(std::span<const Value> csr_values, Layout<Value>& layout) {
  transpose(csr_values, Value{}, layout.shape, layout.values);
}

template <class Value>
Layout<Value> build(const CsrView<Value>& matrix, TileShape shape, std::vector<BuildStep>& steps) {
  Stopwatch watch;
  Layout<Value> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz();
  layout.shape = shape;
  find_first_rows(matrix.row_ptr, layout);
  steps.push_back({"find the first row of each tile", watch.lap()});

  describe_tiles(matrix.row_ptr, layout);
  find_empty_rows(matrix.row_ptr, layout);
  steps.push_back({"describe the tiles", watch.lap()});

  layout.col_idx.resize(layout.tiles() * shape.entries());
  layout.values.resize(layout.tiles() * shape.entries());
  transpose(matrix.col_idx, kNoColumn, shape, layout.col_idx);
  transpose_values(matrix.values, layout);
  steps.push_back({"transpose the nonzeros", watch.lap()});
  return layout;
}

template Layout<double> build(const CsrView<double>&, TileShape, std::vector<BuildStep>&);
template Layout<float> build(const CsrView<float>&, TileShape, std::vector<BuildStep>&);
template void transpose_values(std::span<const double>, Layout<double>&);
template void transpose_values(std::span<const float>, Layout<float>&);

}  // namespace trireme::csr5
