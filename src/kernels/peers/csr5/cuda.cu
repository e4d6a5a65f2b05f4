// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: one launch per product, in which one warp multiplies one tile.
//
// 1. Each lane sums its parts of segments, and the warp adds each lane's head to the segment that
//    it belongs to, as the host executor does (host.cpp). Each segment but the last one of the tile
//    is stored, if it begins its row.
// 2. A thread block has kWarps consecutive tiles. It adds up the rows that cross these tiles in
//    shared memory, in the order of the tiles.
// 3. The sums of a row that crosses thread blocks go to global memory. The block that finishes last
//    adds them up, first block first, and stores the row. Which block finishes last changes from
//    run to run; the order of the additions does not, so that the result has the same bits every
//    time. This is the calibration of the paper, without its second launch.
//
// Empty rows are stored by all threads, from their list.
//
// Bytes moved (double): 12 per nonzero, 4 (sigma up to 16) or 8 per sigma nonzeros for the
// descriptors, and 8 per row; 12 per empty row.
#include <algorithm>
#include <type_traits>

#include "base/stopwatch.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "kernels/multiply_tile.cuh"
#include "kernels/numeric.cuh"
#include "kernels/peers/csr5/csr5.hpp"
#include "kernels/peers/csr5/device_layout.hpp"

namespace trireme {
namespace csr5 {
namespace {

constexpr int kOmega = kMaxOmega;
constexpr int kWarps = 8;  // per thread block, and tiles
constexpr int kThreads = kWarps * kOmega;

// A view of the layout, of the row offsets of the CSR, and of the memory in which the thread blocks
// exchange the sums of rows.
template <class Stored>
struct Tiles {
  std::int32_t count = 0;
  std::int32_t empty_count = 0;
  int sigma = 0;
  const std::uint32_t* tile_ptr = nullptr;
  const std::uint32_t* tile_desc = nullptr;
  const std::int32_t* empty_offset_ptr = nullptr;
  const std::int32_t* empty_offset = nullptr;
  const std::int32_t* empty_rows = nullptr;
  const std::int32_t* col_idx = nullptr;
  const Stored* values = nullptr;
  const std::int32_t* row_ptr = nullptr;
  void* parts = nullptr;  // 2 sums per block: its first row at 2 b, its last row at 2 b + 1
  std::uint32_t* arrived = nullptr;  // 1 counter per block, zero between products

  __device__ std::int32_t first_row(std::int32_t tile) const {
    return static_cast<std::int32_t>(tile_ptr[tile] & ~kEmptyRowsMark);
  }
  // True where the first nonzero of the tile does not begin a row.
  __device__ bool continues_a_row(std::int32_t tile) const {
    return (tile_desc[static_cast<std::int64_t>(tile) * descriptor_words(sigma) * kOmega] & 1) == 0;
  }
  __device__ LaneDescriptor descriptor(std::int32_t tile, int lane) const {
    const int words = descriptor_words(sigma);
    const std::uint32_t* word = tile_desc + static_cast<std::int64_t>(tile) * words * kOmega + lane;
    return words == 1 ? unpack(__ldcs(word)) : unpack(__ldcs(word), __ldcs(word + kOmega));
  }
};

// Stores finished rows in y.
template <class Vector, bool with_dot>
struct Sink {
  const Vector* x;
  Vector* y;
  bool add;

  template <class Number>
  __device__ __forceinline__ void store_row(std::int32_t row, Number sum) const {
    store_or_add(y + row, sum, add);
  }
  // The term of x . A x that a part of a row contributes, or 0 without dot.
  template <class Number>
  __device__ __forceinline__ double dot(std::int32_t row, Number part) const {
    if constexpr (with_dot) return static_cast<double>(part) * load<Sum<Vector>>(x + row);
    return 0;
  }
  template <class Number>
  __device__ __forceinline__ double finish(std::int32_t row, Number sum) const {
    store_row(row, sum);
    return dot(row, sum);
  }
};

// What the tiles of a thread block leave to be added up.
template <class Number>
struct BlockMemory {
  Number continued[kWarps];  // the sum of the first segment, where it continues a row
  Number open[kWarps];       // the sum of the last segment, where it begins its row
  std::int32_t open_row[kWarps];
  bool continues[kWarps];  // The first segment continues a row.
  bool begins[kWarps];     // A row begins in the tile.
};

// One warp multiplies one tile. Returns this lane's share of x . A x.
template <int batch, class Stored, class Vector, class Sink>
__device__ __forceinline__ double multiply_tile(const Tiles<Stored>& a, std::int32_t tile,
                                                const Vector* __restrict__ x, const Sink& sink,
                                                BlockMemory<Sum<Vector>>& memory) {
  using Number = Sum<Vector>;
  const int lane = threadIdx.x % kOmega, warp = threadIdx.x / kOmega;
  const LaneDescriptor descriptor = a.descriptor(tile, lane);
  const std::uint32_t marked_row = a.tile_ptr[tile];
  const auto first_row = static_cast<std::int32_t>(marked_row & ~kEmptyRowsMark);
  const std::int32_t* offsets =
      (marked_row & kEmptyRowsMark) != 0 ? a.empty_offset + a.empty_offset_ptr[tile] : nullptr;
  const bool continues = (__shfl_sync(kFullWarp, descriptor.bit_flag, 0) & 1) == 0;
  double dot = 0;
  const auto row_of = [&](int segment) {
    return first_row + (offsets != nullptr ? offsets[segment] : segment);
  };
  const auto finish = [&](int segment, Number sum) {
    if (segment == 0 && continues)
      memory.continued[warp] = sum;
    else
      dot += sink.finish(row_of(segment), sum);
  };

  // The tile's first segment begins in lane 0, whatever its flag is.
  std::uint32_t flags = lane == 0 ? descriptor.bit_flag & ~1u : descriptor.bit_flag;
  bool begun = lane == 0;
  int segment = lane == 0 ? 0 : descriptor.y_offset - 1;
  Number sum{}, head{};
  const std::int64_t begin = static_cast<std::int64_t>(tile) * kOmega * a.sigma + lane;
  const std::int32_t* columns = a.col_idx + begin;
  const Stored* values = a.values + begin;
  for (int base = 0; base < a.sigma; base += batch) {
    // All loads of a batch are issued before the first is used.
    std::int32_t column[batch];
    Number value[batch], x_of[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k)
      column[k] = base + k < a.sigma ? __ldcs(columns + (base + k) * kOmega) : kNoColumn;
#pragma unroll
    for (int k = 0; k < batch; ++k)
      value[k] = base + k < a.sigma ? load_once<Number>(values + (base + k) * kOmega) : Number{};
#pragma unroll
    for (int k = 0; k < batch; ++k)
      x_of[k] = column[k] != kNoColumn ? load<Number>(x + column[k]) : Number{};
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      if ((flags & 1) != 0) {
        if (begun)
          finish(segment, sum);
        else
          head = sum;
        begun = true;
        ++segment;
        sum = Number{};
      }
      flags >>= 1;
      sum += value[k] * x_of[k];
    }
  }

  // heads: the sum of the heads of the next lanes, as far as they belong to this lane's segment.
  Number heads = __shfl_down_sync(kFullWarp, begun ? head : sum, 1);
  if (lane == kOmega - 1) heads = Number{};
#pragma unroll
  for (int offset = 1; offset < kOmega; offset *= 2) {
    const Number other = __shfl_down_sync(kFullWarp, heads, offset);
    if (offset <= descriptor.seg_offset) heads += other;
  }
  const int last_lane = kOmega - 1 - __clz(__ballot_sync(kFullWarp, begun));
  const bool is_open = lane == last_lane && !(segment == 0 && continues);
  if (is_open) {
    memory.open[warp] = sum + heads;
    memory.open_row[warp] = row_of(segment);
  } else if (begun) {
    finish(segment, sum + heads);
  }
  if (lane == last_lane) {
    memory.continues[warp] = continues;
    memory.begins[warp] = is_open;
  }
  return dot;
}

// Called by one warp, whose lanes have the same arguments, for a row that crosses thread blocks.
// `part` is this block's part of the row.
template <class Stored, class Number, class Sink>
__device__ void finish_cut_row(const Tiles<Stored>& a, std::int32_t block, std::int32_t row,
                               bool is_first_row, Number part, const Sink& sink) {
  const int lane = threadIdx.x % kOmega;
  const std::int32_t entries = kThreads * a.sigma;  // of a thread block
  const std::int32_t first = a.row_ptr[row] / entries;
  const std::int32_t last = (a.row_ptr[row + 1] - 1) / entries;
  Number* parts = static_cast<Number*>(a.parts);
  bool is_last = false;
  if (lane == 0) {
    __stcg(parts + 2 * static_cast<std::int64_t>(block) + (is_first_row ? 0 : 1), part);
    const auto others = static_cast<std::uint32_t>(last - first);
    is_last = tiles::arrive(a.arrived + first, others) == others;  // back to 0 for the next product
    if (is_last) tiles::acquire_arrivals();
  }
  __syncwarp();
  if (!__shfl_sync(kFullWarp, is_last, 0)) return;
  Number sum{};  // The parts are read from the L2 cache, where they were stored.
  for (std::int32_t b = first + lane; b <= last; b += kOmega)
    sum += __ldcg(parts + 2 * static_cast<std::int64_t>(b) + (b == first ? 1 : 0));
  sum = warp_sum(sum);
  if (lane == 0) sink.store_row(row, sum);
}

// Warp 0 stores the last row that begins in each of the `count` tiles of the block. The last one of
// all may go on in the next block (`goes_on_after`). Returns this lane's share of x . A x.
template <class Stored, class Number, class Sink>
__device__ double finish_open_rows(const Tiles<Stored>& a, std::int32_t block, int count,
                                   bool goes_on_after, const BlockMemory<Number>& memory,
                                   const Sink& sink) {
  const int lane = threadIdx.x % kOmega;
  Number sum{};
  std::int32_t row = 0;
  bool is_cut = false;
  double dot = 0;
  if (lane < count && memory.begins[lane]) {
    row = memory.open_row[lane];
    sum = memory.open[lane];
    bool goes_on = true;
    for (int tile = lane + 1; goes_on && tile < count; ++tile) {
      if (memory.continues[tile]) sum += memory.continued[tile];
      goes_on = memory.continues[tile] && !memory.begins[tile];
    }
    is_cut = goes_on && goes_on_after;
    dot = sink.dot(row, sum);
    if (!is_cut) sink.store_row(row, sum);
  }
  const unsigned cut = __ballot_sync(kFullWarp, is_cut);  // at most one lane
  if (cut == 0) return dot;
  const int source = __ffs(static_cast<int>(cut)) - 1;
  finish_cut_row(a, block, __shfl_sync(kFullWarp, row, source), false,
                 __shfl_sync(kFullWarp, sum, source), sink);
  return dot;
}

// Warp 1 adds up the first row of the block where it began in an earlier block. Returns this lane's
// share of x . A x.
template <class Stored, class Number, class Sink>
__device__ double finish_continued_row(const Tiles<Stored>& a, std::int32_t block, int count,
                                       const BlockMemory<Number>& memory, const Sink& sink) {
  if (!memory.continues[0]) return 0;
  const std::int32_t row = a.first_row(block * kWarps);
  Number sum{};
  for (int tile = 0; tile < count && memory.continues[tile]; ++tile) {
    sum += memory.continued[tile];
    if (memory.begins[tile]) break;
  }
  finish_cut_row(a, block, row, true, sum, sink);
  return threadIdx.x % kOmega == 0 ? sink.dot(row, sum) : 0;
}

template <int batch, bool with_dot, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads, batch == 4 ? 5 : 4)
    multiply_blocks(Tiles<Stored> a, const Vector* __restrict__ x, Vector* __restrict__ y, bool add,
                    double* __restrict__ partials) {
  __shared__ BlockMemory<Sum<Vector>> memory;
  const Sink<Vector, with_dot> sink{x, y, add};
  const auto block = static_cast<std::int32_t>(blockIdx.x);
  const int warp = threadIdx.x / kOmega;
  const std::int32_t left = a.count - block * kWarps;
  double dot = 0;
  if (left > 0) {  // the same for the whole block
    const int count = min(left, kWarps);
    // This load is issued early, so that nobody waits for it later.
    const bool goes_on_after = left > kWarps && a.continues_a_row((block + 1) * kWarps);
    if (warp < count) dot = multiply_tile<batch>(a, block * kWarps + warp, x, sink, memory);
    __syncthreads();
    if (warp == 0) dot += finish_open_rows(a, block, count, goes_on_after, memory, sink);
    if (warp == 1) dot += finish_continued_row(a, block, count, memory, sink);
  }
  if (!add)
    for (std::int64_t k = static_cast<std::int64_t>(block) * kThreads + threadIdx.x;
         k < a.empty_count; k += static_cast<std::int64_t>(gridDim.x) * kThreads)
      store(y + a.empty_rows[k], Sum<Vector>{});
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) partials[block] = dot;
  }
}

template <class Stored, class Vector>
class Csr5Cuda final : public CudaKernel<Vector> {
 public:
  Csr5Cuda(const DeviceCsr<Vector>& matrix, StreamRef stream)
      : row_ptr_(matrix.row_ptr), layout_(build_on_device<Stored>(matrix, steps_, stream)) {
    const std::int64_t tile_blocks = (layout_.tiles + kWarps - 1) / kWarps;
    parts_ = DeviceBuffer<Sum<Vector>>(2 * tile_blocks, stream);
    arrived_ = DeviceBuffer<std::uint32_t>(tile_blocks, stream);
    fill_zero(arrived_.span(), stream);
    constexpr std::int64_t kMaxBlocksOfEmptyRows = 1024;
    const auto empty_rows = static_cast<std::int64_t>(layout_.empty_rows.size());
    blocks_ = static_cast<unsigned>(std::max(
        tile_blocks, std::min((empty_rows + kThreads - 1) / kThreads, kMaxBlocksOfEmptyRows)));
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    launch<false>(x, y, accumulate == Accumulate::yes, nullptr, stream);
  }

  std::size_t dot_partials() const override { return layout_.rows == layout_.cols ? blocks_ : 0; }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    launch<true>(x, y, false, partials.data(), stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    transpose_values(values, layout_, stream);
  }

  KernelStatistics statistics() const override {
    const auto stored = static_cast<double>(layout_.values.size());
    return {.stored_bytes = layout_.stored_bytes(),
            .padding_ratio = layout_.nnz > 0 ? stored / static_cast<double>(layout_.nnz) - 1 : 0.0,
            .steps = steps_};
  }

 private:
  template <bool with_dot>
  void launch(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, bool add, double* partials,
              StreamRef stream) {
    if (blocks_ == 0) return;
    const auto multiply = layout_.shape.sigma <= 4 ? multiply_blocks<4, with_dot, Stored, Vector>
                                                   : multiply_blocks<8, with_dot, Stored, Vector>;
    multiply<<<blocks_, kThreads, 0, stream>>>(tiles(), x.data(), y.data(), add, partials);
    check_launch();
  }

  Tiles<Stored> tiles() const {
    return {.count = static_cast<std::int32_t>(layout_.tiles),
            .empty_count = static_cast<std::int32_t>(layout_.empty_rows.size()),
            .sigma = layout_.shape.sigma,
            .tile_ptr = layout_.tile_ptr.data(),
            .tile_desc = layout_.tile_desc.data(),
            .empty_offset_ptr = layout_.empty_offset_ptr.data(),
            .empty_offset = layout_.empty_offset.data(),
            .empty_rows = layout_.empty_rows.data(),
            .col_idx = layout_.col_idx.data(),
            .values = layout_.values.data(),
            .row_ptr = row_ptr_.data(),
            .parts = parts_.data(),
            .arrived = arrived_.data()};
  }

  DeviceSpan<const std::int32_t> row_ptr_;
  std::vector<BuildStep> steps_;
  DeviceLayout<Stored> layout_;
  DeviceBuffer<Sum<Vector>> parts_;
  DeviceBuffer<std::uint32_t> arrived_;
  unsigned blocks_ = 0;
};

}  // namespace
}  // namespace csr5

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr5_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream) {
  return std::make_unique<csr5::Csr5Cuda<Value, Value>>(matrix, stream);
}

std::unique_ptr<CudaKernel<double>> build_csr5_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream) {
  return std::make_unique<csr5::Csr5Cuda<float, double>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_csr5_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_csr5_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
