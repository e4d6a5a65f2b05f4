// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: one warp multiplies one slice. The same launch multiplies the rows kept apart,
// tile by tile. layout.hpp documents the layout and the bytes moved. The result is deterministic:
// one lane adds up a row of a slice in storage order; for the rows kept apart see
// kernels/multiply_tile.cuh.
#include <algorithm>
#include <type_traits>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/device.hpp"
#include "kernels/multiply_tile.cuh"
#include "kernels/row_block_dot.hpp"
#include "kernels/sell/chunks.cuh"
#include "kernels/sell/device_layout.hpp"
#include "kernels/sell/ragged_device_layout.hpp"
#include "kernels/sell/repeated.hpp"
#include "kernels/sell/sell.hpp"
#include "kernels/sell/vectors.hpp"
#include "kernels/sell/widen.cuh"

namespace trireme {
namespace {

using sell::Chunks;
using sell::kLanes;
using sell::Pack;
using sell::Slices;
using sell::widen;

constexpr int kThreads = tiles::kThreads;
constexpr int kSlicesPerBlock = kThreads / kLanes;

// One warp multiplies one slice. Returns this lane's share of x . A x.
template <bool ahead, int lane_rows, bool with_dot, class Stored, class Column, class Vector>
__device__ __forceinline__ double multiply_slice(const Slices<Stored, Column>& a,
                                                 Chunks<ahead, lane_rows, Stored, Column>& chunks,
                                                 std::int32_t slice, const Vector* __restrict__ x,
                                                 const Vector* __restrict__ x_of_rows,
                                                 const float* __restrict__ diagonal,
                                                 Vector* __restrict__ y, bool add) {
  using Number = Sum<Vector>;
  constexpr int kSteps = sell::kChunkSteps<lane_rows>;
  std::int32_t target[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const auto row =
        static_cast<std::int32_t>((slice * lane_rows + r) * kLanes + threadIdx.x % kLanes);
    target[r] = row < a.rows ? (a.row_order ? a.row_order[row] : row) : -1;
  }

  chunks.begin(slice, target);
  Number sums[lane_rows] = {};
  const std::int32_t end = a.slice_ptr[slice + 1];
  for (std::int32_t step = a.slice_ptr[slice]; step < end; step += kSteps) {
    chunks.next(step, end);
    if constexpr (ahead) {
      // All gathers are issued first. Where a row has no entry, its value is 0 as well.
      Number x_of[kSteps][lane_rows] = {};
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        const auto columns = chunks.columns(s);
#pragma unroll
        for (int r = 0; r < lane_rows; ++r)
          if (columns.has(r)) x_of[s][r] = load<Number>(x + columns.of(r));
      }
#pragma unroll
      for (int s = 0; s < kSteps; ++s)
        if (step + s < end) {
          const Pack<lane_rows, Stored> value = chunks.values(s);
#pragma unroll
          for (int r = 0; r < lane_rows; ++r)
            sums[r] += widen<Number>(value.of_row[r]) * x_of[s][r];
        }
    } else {  // This order takes fewer registers, which allows more warps.
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        const auto columns = chunks.columns(s);
        const Pack<lane_rows, Stored> value = chunks.values(s);
#pragma unroll
        for (int r = 0; r < lane_rows; ++r)
          if (columns.has(r))
            sums[r] += widen<Number>(value.of_row[r]) * load<Number>(x + columns.of(r));
      }
    }
  }

  double dot = 0;
#pragma unroll
  for (int r = 0; r < lane_rows; ++r)
    if (target[r] >= 0) {
      sums[r] = with_diagonal(sums[r], diagonal, x_of_rows, target[r]);
      store_or_add(y + target[r], sums[r], add);
      if constexpr (with_dot)
        dot += static_cast<double>(sums[r]) * load<Number>(x_of_rows + target[r]);
    }
  return dot;
}

template <bool ahead, int lane_rows, class Stored, class Column>
struct BlockMemory {
  typename Chunks<ahead, lane_rows, Stored, Column>::Memory of_warp[kSlicesPerBlock];
};

// Work units are first the tiles of the rows kept apart, which take longest, then the slices, in
// groups of one per warp.
template <bool ahead, int lane_rows, bool with_apart, bool with_dot, class Stored, class Column,
          class Vector>
__global__ void __launch_bounds__(
    kThreads, (sell::tuning::min_blocks<ahead, lane_rows, with_apart, Stored>()))
    multiply_units(Slices<Stored, Column> a, tiles::TiledCsr<Stored> apart,
                   const Vector* __restrict__ x, const Vector* __restrict__ x_of_rows,
                   const float* __restrict__ diagonal, Vector* __restrict__ y, bool add,
                   double* __restrict__ partials) {
  extern __shared__ __align__(32) unsigned char memory[];
  double dot = 0;
  auto unit = static_cast<std::int32_t>(blockIdx.x);
  if constexpr (with_apart) {
    const tiles::RowSink<Vector, with_dot> sink{
        x_of_rows, diagonal, y, apart.row_map, add, with_dot ? partials + gridDim.x : nullptr};
    for (; unit < apart.count; unit += gridDim.x) {
      dot += tiles::multiply_tile(apart, unit, x, sink,
                                  *reinterpret_cast<tiles::TileMemory<Sum<Vector>>*>(memory));
      __syncthreads();  // The shared memory is used again.
    }
    unit -= apart.count;
  }
  const int warp = threadIdx.x / kLanes;
  const std::int32_t first = unit * kSlicesPerBlock + warp;
  const auto stride = static_cast<std::int32_t>(gridDim.x) * kSlicesPerBlock;
  auto* of_warp = reinterpret_cast<BlockMemory<ahead, lane_rows, Stored, Column>*>(memory)->of_warp;
  Chunks<ahead, lane_rows, Stored, Column> chunks(a, of_warp + warp, first, stride);
  for (std::int32_t slice = first; slice < a.count; slice += stride)
    dot += multiply_slice<ahead, lane_rows, with_dot>(a, chunks, slice, x, x_of_rows, diagonal, y,
                                                      add);
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) partials[blockIdx.x] = dot;
  }
}

// The number of blocks of the kernel that a multiprocessor holds at the same time.
template <class Kernel>
int resident_blocks(Kernel kernel, std::size_t shared_bytes) {
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes)));
  int blocks = 0;
  cuda_check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, shared_bytes));
  return blocks;
}

template <class Vector>
class SellCuda final : public CudaKernel<Vector>, public RowBlockDot<Vector> {
  static constexpr bool kMultipliesVectors = std::is_floating_point_v<Vector>;  // not FP16

 public:
  SellCuda(const DeviceCsr<Vector>& matrix, sell::StoreFp32 store_fp32, StreamRef stream)
      : row_ptr_(matrix.row_ptr),
        store_fp32_(store_fp32),
        layout_(sell::build_on_device(matrix, store_fp32, steps_, stream)) {
    if (layout_.apart_rows > 0) {
      apart_ = tiles::TileCut<Sum<Vector>>(layout_.apart_rows, layout_.apart_nnz,
                                           layout_.apart_row_ptr.data(), stream);
      synchronize(stream);
    }
    const std::int64_t blocks = (layout_.slices + kSlicesPerBlock - 1) / kSlicesPerBlock;
    units_ = static_cast<int>(apart_.count() + blocks);
    large_ = is_large();
    blocks_ = prepare<false>();
    dot_blocks_ = std::max(1, prepare<true>());
    if (layout_.form.repeated) {
      repeated_ = sell::RepeatedProduct<Vector>(layout_, stream);
      dot_blocks_ = std::max(dot_blocks_, repeated_.partials());
    }
    if constexpr (kMultipliesVectors) vectors_ = sell::Vectors<Vector>(layout_, stream);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    if (units_ > 0) launch<false>(x, x, y, accumulate == Accumulate::yes, blocks_, {}, stream);
  }

  bool multiplies_vectors() const override { return kMultipliesVectors; }
  void multi_multiply(DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y,
                      Accumulate accumulate, StreamRef stream) override {
    if constexpr (kMultipliesVectors)
      vectors_.multiply(layout_, x, y, accumulate == Accumulate::yes, diagonal_, stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    const bool had_fp32 = layout_.form.in_fp32, had_repeated = layout_.form.repeated;
    sell::fill_device_values(row_ptr_, values, store_fp32_, layout_, stream);
    if (layout_.form.in_fp32 == had_fp32 && layout_.form.repeated == had_repeated) return;
    large_ = is_large();
    blocks_ = prepare<false>();
    prepare<true>();  // The number of blocks, and so dot_partials(), must stay.
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = layout_.stored_bytes() + repeated_.stored_bytes() +
                            (layout_.apart_rows ? apart_.bytes() : 0),
            .padding_ratio =
                layout_.nnz ? static_cast<double>(layout_.stored_entries()) / layout_.nnz - 1 : 0.0,
            .steps = steps_};
  }

  bool add_diagonal(DeviceSpan<const float> diagonal) override {
    diagonal_ = diagonal;
    return true;
  }

  std::size_t dot_partials() const override {
    return layout_.rows == layout_.cols ? block_dot_partials() : 0;
  }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    multiply_block_and_dot(x, x, y, partials, stream);
  }
  std::size_t block_dot_partials() const override {
    return static_cast<std::size_t>(dot_blocks_ + apart_.count());
  }
  void multiply_block_and_dot(DeviceSpan<const Vector> x, DeviceSpan<const Vector> x_of_rows,
                              DeviceSpan<Vector> y, DeviceSpan<double> partials,
                              StreamRef stream) override {
    launch<true>(x, x_of_rows, y, false, dot_blocks_, partials, stream);
  }

 private:
  bool is_large() const {
    return layout_.stored_bytes() > static_cast<std::int64_t>(device_properties().l2_bytes);
  }

  // The number of blocks of a launch: one per work unit; where chunks are fetched ahead or partial
  // sums are stored, at most as many as the GPU holds at the same time.
  template <bool with_dot>
  int prepare() {
    int blocks = units_;
    with_kernel<with_dot>([&](auto kernel, std::size_t shared_bytes, bool ahead, auto&&...) {
      const int max_blocks = resident_blocks(kernel, shared_bytes) * multiprocessors();
      if (with_dot || ahead) blocks = std::min(units_, max_blocks);
    });
    return blocks;
  }

  template <bool with_dot>
  void launch(DeviceSpan<const Vector> x, DeviceSpan<const Vector> x_of_rows, DeviceSpan<Vector> y,
              bool add, int blocks, DeviceSpan<double> partials, StreamRef stream) {
    if (layout_.form.repeated)
      return repeated_.multiply(layout_, x, x_of_rows, diagonal_, y, add, partials, stream);
    with_kernel<with_dot>(
        [&](auto kernel, std::size_t shared_bytes, bool, const auto& slices, const auto& apart) {
          kernel<<<blocks, kThreads, shared_bytes, stream>>>(slices, apart, x.data(),
                                                             x_of_rows.data(), diagonal_.data(),
                                                             y.data(), add, partials.data());
        });
    check_launch();
  }

  // Calls call(kernel, bytes of shared memory, whether it fetches ahead, slices, tiles) with the
  // kernel for the arrays that are in use.
  template <bool with_dot, class Call>
  void with_kernel(Call&& call) {
    if constexpr (std::is_same_v<Vector, double>) {
      if (layout_.form.in_fp32)
        return with_values<with_dot>(layout_.fp32_values.data(), layout_.apart_fp32.data(), call);
    }
    with_values<with_dot>(layout_.values.data(), layout_.apart_values.data(), call);
  }

  template <bool with_dot, class Stored, class Call>
  void with_values(const Stored* values, const Stored* apart_values, Call& call) {
    const std::int32_t* order = layout_.form.sorted ? layout_.row_order.data() : nullptr;
    const auto with_columns = [&](auto lane_rows, const auto* columns) {
      constexpr int kRows = decltype(lane_rows)::value;
      using Column = std::remove_const_t<std::remove_pointer_t<decltype(columns)>>;
      const Slices<Stored, Column> slices{static_cast<std::int32_t>(layout_.slices),
                                          static_cast<std::int32_t>(layout_.slice_rows()),
                                          layout_.slice_ptr.data(),
                                          layout_.base.data(),
                                          columns,
                                          values,
                                          order,
                                          layout_.differences.data(),
                                          layout_.pattern_width};
      if constexpr (sell::tuning::can_fetch_ahead<kRows, Stored, Column, Vector>())
        if (large_ && !layout_.form.sorted)
          return call(multiply_units<true, kRows, false, with_dot, Stored, Column, Vector>,
                      sizeof(BlockMemory<true, kRows, Stored, Column>), true, slices,
                      tiles::TiledCsr<Stored>{});
      if (layout_.apart_rows > 0)
        call(
            multiply_units<false, kRows, true, with_dot, Stored, Column, Vector>,
            sizeof(tiles::TileMemory<Sum<Vector>>), false, slices,
            apart_.template view<Stored>(layout_.apart_row_ptr.data(), layout_.apart_col_idx.data(),
                                         apart_values, order + layout_.slice_rows()));
      else
        call(multiply_units<false, kRows, false, with_dot, Stored, Column, Vector>, std::size_t{0},
             false, slices, tiles::TiledCsr<Stored>{});
    };
    const auto* offsets = static_cast<const std::uint16_t*>(layout_.offsets.data());
    const auto* columns = static_cast<const std::int32_t*>(layout_.columns.data());
    const auto* patterns = static_cast<const sell::PatternId*>(layout_.patterns.data());
    if (layout_.form.lane_rows == 1 && layout_.form.patterned)
      with_columns(std::integral_constant<int, 1>{}, patterns);
    else if (layout_.form.patterned)
      with_columns(std::integral_constant<int, sell::kMaxLaneRows>{}, patterns);
    else if (layout_.form.lane_rows == 1 && layout_.form.narrow)
      with_columns(std::integral_constant<int, 1>{}, offsets);
    else if (layout_.form.lane_rows == 1)
      with_columns(std::integral_constant<int, 1>{}, columns);
    else if (layout_.form.narrow)
      with_columns(std::integral_constant<int, sell::kMaxLaneRows>{}, offsets);
    else
      with_columns(std::integral_constant<int, sell::kWideLaneRows>{}, columns);
  }

  DeviceSpan<const std::int32_t> row_ptr_;
  sell::StoreFp32 store_fp32_;
  std::vector<BuildStep> steps_;
  sell::DeviceLayout<Vector> layout_;
  tiles::TileCut<Sum<Vector>> apart_;
  sell::Vectors<std::conditional_t<kMultipliesVectors, Vector, float>> vectors_;
  DeviceSpan<const float> diagonal_;
  sell::RepeatedProduct<Vector> repeated_;  // in use where the layout has repeated rows
  bool large_ = false;                      // The layout exceeds the L2 cache.
  int units_ = 0;
  int blocks_ = 0;      // blocks of a launch
  int dot_blocks_ = 1;  // blocks of a launch that sums x . A x
};

template <class Value>
std::unique_ptr<CudaKernel<Value>> build(const DeviceCsr<Value>& matrix, sell::StoreFp32 store_fp32,
                                         StreamRef stream) {
  if (sell::has_ragged_rows(matrix.rows, matrix.nnz, matrix.row_ptr, stream))
    return sell::build_ragged_cuda(matrix, store_fp32, stream);
  return std::make_unique<SellCuda<Value>>(matrix, store_fp32, stream);
}

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_sell_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream) {
  constexpr auto kSingles =
      std::is_same_v<Value, double> ? sell::StoreFp32::if_exact : sell::StoreFp32::never;
  return build(matrix, kSingles, stream);
}

std::unique_ptr<CudaKernel<double>> build_sell_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream) {
  return build(matrix, sell::StoreFp32::always, stream);
}

template std::unique_ptr<CudaKernel<double>> build_sell_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_sell_cuda(const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_sell_cuda(const DeviceCsr<Half>&, StreamRef);

}  // namespace trireme
