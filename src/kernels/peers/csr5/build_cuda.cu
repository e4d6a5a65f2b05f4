// SPDX-License-Identifier: BSD-3-Clause
// Builds the CSR5 layout on the GPU. The arrays are equal to those of build.cpp. The only atomic
// operations are on bits and on a count, so that their order does not matter.
#include <cstddef>

#include "base/stopwatch.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "kernels/numeric.cuh"
#include "kernels/peers/csr5/device_layout.hpp"

namespace trireme::csr5 {
namespace {

using Index = std::int32_t;

constexpr int kThreads = 256;
constexpr int kOmega = kMaxOmega;
constexpr int kTransposedTiles = 4;  // per thread block, one per warp

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

__device__ __forceinline__ std::int64_t thread_number() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}

// Sets tile_ptr without marks. One thread per tile, and one for the end.
__global__ void find_first_rows(std::int64_t rows, std::int64_t tiles, int entries,
                                const Index* __restrict__ row_ptr,
                                std::uint32_t* __restrict__ tile_ptr) {
  const std::int64_t tile = thread_number();
  if (tile > tiles) return;
  if (tile == tiles) {
    tile_ptr[tile] = static_cast<std::uint32_t>(rows);
    return;
  }
  const std::int64_t begin = tile * entries;
  std::int64_t low = 0,
               high = rows;  // The last row that begins at `begin` or before is in [low, high).
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (row_ptr[middle] <= begin)
      low = middle;
    else
      high = middle;
  }
  tile_ptr[tile] = static_cast<std::uint32_t>(low);
}

// Where a nonzero lies.
struct Place {
  std::int64_t tile;
  int in_tile, lane, step;

  __device__ Place(Index nonzero, TileShape shape)
      : tile(nonzero / shape.entries()),
        in_tile(nonzero % shape.entries()),
        lane(in_tile / shape.sigma),
        step(in_tile % shape.sigma) {}
};

// Sets the bit flags in tile_desc and the marks in tile_ptr, and counts the empty rows. One thread
// per row.
__global__ void set_flags(std::int64_t rows, TileShape shape, int words,
                          const Index* __restrict__ row_ptr, std::uint32_t* __restrict__ tile_ptr,
                          std::uint32_t* __restrict__ tile_desc, Index* __restrict__ empty_rows) {
  const std::int64_t row = thread_number();
  if (row >= rows) return;
  const Index begin = row_ptr[row];
  if (begin == row_ptr[row + 1]) {
    atomicAdd(empty_rows, 1);
    return;
  }
  const Place place(begin, shape);
  atomicOr(tile_desc + place.tile * words * kOmega + place.lane, 1u << place.step);
  // An earlier nonzero of the tile belongs to an earlier row, so that there is a row before.
  if (place.in_tile > 0 && row_ptr[row - 1] == begin)
    atomicOr(tile_ptr + place.tile, kEmptyRowsMark);
}

// Adds y_offset and seg_offset to the flags in tile_desc, and stores the numbers of segments of the
// marked tiles. One warp per tile.
__global__ void add_offsets(std::int64_t tiles, int words,
                            const std::uint32_t* __restrict__ tile_ptr,
                            std::uint32_t* __restrict__ tile_desc, Index* __restrict__ segments) {
  const std::int64_t tile = thread_number() / kOmega;
  if (tile >= tiles) return;
  const int lane = threadIdx.x % kOmega;
  std::uint32_t* desc = tile_desc + tile * words * kOmega + lane;
  LaneDescriptor descriptor{.bit_flag = *desc};
  const int begun = __popc(descriptor.bit_flag | (lane == 0 ? 1u : 0u));
  int until = begun;  // segments that begin in this lane and in the lanes before
  for (int offset = 1; offset < kOmega; offset *= 2) {
    const int other = __shfl_up_sync(kFullWarp, until, offset);
    if (lane >= offset) until += other;
  }
  descriptor.y_offset = until - begun;
  const unsigned lanes = __ballot_sync(kFullWarp, begun > 0);
  const unsigned after = lane == kOmega - 1 ? 0 : lanes >> (lane + 1);
  descriptor.seg_offset = after != 0 ? __ffs(static_cast<int>(after)) - 1 : kOmega - 1 - lane;
  if (words == 1)
    *desc = pack_one_word(descriptor);
  else
    desc[kOmega] = pack_offsets(descriptor);
  if (lane == kOmega - 1) segments[tile] = (tile_ptr[tile] & kEmptyRowsMark) != 0 ? until : 0;
}

// One thread per row.
__global__ void fill_empty_offsets(std::int64_t rows, TileShape shape, int words,
                                   const Index* __restrict__ row_ptr,
                                   const std::uint32_t* __restrict__ tile_ptr,
                                   const std::uint32_t* __restrict__ tile_desc,
                                   const Index* __restrict__ empty_offset_ptr,
                                   Index* __restrict__ empty_offset) {
  const std::int64_t row = thread_number();
  if (row >= rows) return;
  const Index begin = row_ptr[row];
  if (begin == row_ptr[row + 1]) return;
  const Place place(begin, shape);
  const std::uint32_t first_row = tile_ptr[place.tile];
  if ((first_row & kEmptyRowsMark) == 0 || place.in_tile == 0) return;
  const std::uint32_t* desc = tile_desc + place.tile * words * kOmega + place.lane;
  const LaneDescriptor descriptor = words == 1 ? unpack(*desc) : unpack(*desc, desc[kOmega]);
  const std::uint32_t begun = descriptor.bit_flag | (place.lane == 0 ? 1u : 0u);
  const int segment = descriptor.y_offset + __popc(begun & ((1u << place.step) - 1));
  empty_offset[empty_offset_ptr[place.tile] + segment] =
      static_cast<Index>(row) - static_cast<Index>(first_row & ~kEmptyRowsMark);
}

__global__ void find_empty_rows(std::int64_t rows, const Index* __restrict__ row_ptr,
                                Index* __restrict__ is_empty) {
  const std::int64_t row = thread_number();
  if (row < rows) is_empty[row] = row_ptr[row] == row_ptr[row + 1] ? 1 : 0;
}

__global__ void list_empty_rows(std::int64_t rows, const Index* __restrict__ row_ptr,
                                const Index* __restrict__ empty_before,
                                Index* __restrict__ empty_rows) {
  const std::int64_t row = thread_number();
  if (row < rows && row_ptr[row] == row_ptr[row + 1])
    empty_rows[empty_before[row]] = static_cast<Index>(row);
}

// One number of padding per 32 spreads the lanes over the banks of the shared memory.
__host__ __device__ constexpr int spread(int place) { return place + place / 32; }

// Stores the nonzeros of each tile step by step, and `padding` behind the last of them. One warp
// per tile.
template <class To, class From>
__global__ void __launch_bounds__(kTransposedTiles * 32)
    transpose_tiles(std::int64_t nnz, std::int64_t tiles, int sigma, const From* __restrict__ from,
                    To padding, To* __restrict__ to) {
  extern __shared__ __align__(8) unsigned char memory[];
  const int entries = kOmega * sigma, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  To* tile_memory = reinterpret_cast<To*>(memory) + warp * spread(entries);
  const std::int64_t tile = blockIdx.x * static_cast<std::int64_t>(kTransposedTiles) + warp;
  if (tile >= tiles) return;
  const std::int64_t begin = tile * entries;
  for (int place = lane; place < entries; place += 32)
    tile_memory[spread(place)] =
        begin + place < nnz ? load_once<To>(from + begin + place) : padding;
  __syncwarp();
  for (int step = 0; step < sigma; ++step)
    to[begin + step * kOmega + lane] = tile_memory[spread(lane * sigma + step)];
}

template <class To, class From>
void transpose(DeviceSpan<const From> from, To padding, std::int64_t tiles, TileShape shape,
               DeviceSpan<To> to, StreamRef stream) {
  if (tiles == 0) return;
  const auto blocks = static_cast<unsigned>((tiles + kTransposedTiles - 1) / kTransposedTiles);
  const std::size_t bytes = kTransposedTiles * spread(shape.entries()) * sizeof(To);
  transpose_tiles<<<blocks, kTransposedTiles * 32, bytes, stream>>>(
      static_cast<std::int64_t>(from.size()), tiles, shape.sigma, from.data(), padding, to.data());
  check_launch();
}

// Sets all arrays but col_idx and values.
template <class Stored>
void describe_tiles(DeviceSpan<const Index> row_ptr, DeviceLayout<Stored>& layout,
                    StreamRef stream) {
  const std::int64_t rows = layout.rows, tiles = layout.tiles;
  const int words = descriptor_words(layout.shape.sigma);
  layout.tile_ptr = DeviceBuffer<std::uint32_t>(tiles + 1, stream);
  layout.tile_desc = DeviceBuffer<std::uint32_t>(tiles * words * kOmega, stream);
  layout.empty_offset_ptr = DeviceBuffer<Index>(tiles + 1, stream);
  ScratchBuffer<Index> empty_count(1, stream);
  fill_zero(layout.tile_desc.span(), stream);
  fill_zero(layout.empty_offset_ptr.span(), stream);
  fill_zero(empty_count.span(), stream);

  find_first_rows<<<blocks_for(tiles + 1), kThreads, 0, stream>>>(
      rows, tiles, layout.shape.entries(), row_ptr.data(), layout.tile_ptr.data());
  if (rows > 0)
    set_flags<<<blocks_for(rows), kThreads, 0, stream>>>(
        rows, layout.shape, words, row_ptr.data(), layout.tile_ptr.data(), layout.tile_desc.data(),
        empty_count.data());
  if (tiles > 0)
    add_offsets<<<blocks_for(tiles * kOmega), kThreads, 0, stream>>>(
        tiles, words, layout.tile_ptr.data(), layout.tile_desc.data(),
        layout.empty_offset_ptr.data());
  check_launch();
  exclusive_sum_in_place(layout.empty_offset_ptr.span(), stream);

  const Index empty_rows = read_back(empty_count.data(), stream);
  const Index offsets = read_back(layout.empty_offset_ptr.data() + tiles, stream);
  if (offsets > 0) {
    layout.empty_offset = DeviceBuffer<Index>(offsets, stream);
    fill_zero(layout.empty_offset.span(), stream);  // The first number of each tile stays 0.
    fill_empty_offsets<<<blocks_for(rows), kThreads, 0, stream>>>(
        rows, layout.shape, words, row_ptr.data(), layout.tile_ptr.data(), layout.tile_desc.data(),
        layout.empty_offset_ptr.data(), layout.empty_offset.data());
    check_launch();
  }
  if (empty_rows > 0) {
    layout.empty_rows = DeviceBuffer<Index>(empty_rows, stream);
    ScratchBuffer<Index> before(rows, stream);
    find_empty_rows<<<blocks_for(rows), kThreads, 0, stream>>>(rows, row_ptr.data(), before.data());
    check_launch();
    exclusive_sum_in_place(before.span(), stream);
    list_empty_rows<<<blocks_for(rows), kThreads, 0, stream>>>(rows, row_ptr.data(), before.data(),
                                                               layout.empty_rows.data());
    check_launch();
  }
}

template <class T>
std::int64_t bytes_of(const DeviceBuffer<T>& buffer) {
  return static_cast<std::int64_t>(buffer.size() * sizeof(T));
}

}  // namespace

template <class Stored>
std::int64_t DeviceLayout<Stored>::stored_bytes() const {
  return bytes_of(tile_ptr) + bytes_of(tile_desc) + bytes_of(empty_offset_ptr) +
         bytes_of(empty_offset) + bytes_of(empty_rows) + bytes_of(col_idx) + bytes_of(values);
}

template <class Stored, class Value>
void transpose_values(DeviceSpan<const Value> csr_values, DeviceLayout<Stored>& layout,
                      StreamRef stream) {
  transpose(csr_values, Stored{}, layout.tiles, layout.shape, layout.values.span(), stream);
}

template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, std::vector<BuildStep>& steps,
                                     StreamRef stream) {
  Stopwatch watch;
  DeviceLayout<Stored> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz;
  layout.shape = {.omega = kOmega, .sigma = choose_sigma(matrix.rows, matrix.nnz)};
  const std::int64_t entries = layout.shape.entries();
  layout.tiles = (layout.nnz + entries - 1) / entries;
  describe_tiles(matrix.row_ptr, layout, stream);
  synchronize(stream);
  steps.push_back({"describe the tiles", watch.lap()});

  layout.col_idx = DeviceBuffer<Index>(layout.tiles * entries, stream);
  layout.values = DeviceBuffer<Stored>(layout.tiles * entries, stream);
  transpose(matrix.col_idx, kNoColumn, layout.tiles, layout.shape, layout.col_idx.span(), stream);
  transpose_values(matrix.values, layout, stream);
  synchronize(stream);
  steps.push_back({"transpose the nonzeros", watch.lap()});
  return layout;
}

#define TRIREME_INSTANTIATE(Stored, Value)                                                        \
  template DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>&, std::vector<BuildStep>&, \
                                                StreamRef);                                       \
  template void transpose_values(DeviceSpan<const Value>, DeviceLayout<Stored>&, StreamRef);
template struct DeviceLayout<double>;
template struct DeviceLayout<float>;
TRIREME_INSTANTIATE(double, double)
TRIREME_INSTANTIATE(float, float)
TRIREME_INSTANTIATE(float, double)
#undef TRIREME_INSTANTIATE

}  // namespace trireme::csr5
