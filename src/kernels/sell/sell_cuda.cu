// SPDX-License-Identifier: BSD-3-Clause
// SELL on CUDA: a warp a slice; the rows kept apart go through ALBUS's tiles in the same launch.
// See layout.hpp for the layout, and for the bytes moved. Deterministic: a row of a slice is summed
// by one lane in storage order; for the others see albus/tile.cuh.
#include <algorithm>
#include <type_traits>

#include "device/block_sum.cuh"
#include "device/device.hpp"
#include "kernels/albus/tiles.cuh"
#include "kernels/sell/device_layout.hpp"
#include "kernels/sell/sell.hpp"

namespace trireme {
namespace {

using sell::kLanes;

constexpr int kThreads = albus::kThreads;
constexpr int kSlicesPerBlock = kThreads / kLanes;
constexpr int kBlocksPerMultiprocessor = 6;  // of the fused dot product: a partial sum a block

// Steps of a slice whose loads are asked for together.
template <int lane_rows>
inline constexpr int kStepsInFlight = lane_rows == 1 ? 8 : 4;

template <class Stored, class Column>
struct Slices {
  std::int32_t count = 0;
  std::int32_t rows = 0;
  const std::int32_t* slice_ptr = nullptr;
  const std::int32_t* base = nullptr;  // with 16-bit columns
  const Column* columns = nullptr;
  const Stored* values = nullptr;
  const std::int32_t* row_order = nullptr;  // nullptr: the caller's order
};

// The numbers of one lane in one step, loaded at once.
template <int lane_rows, class T>
struct alignas(sizeof(T) * lane_rows) Pack {
  T of_row[lane_rows];
};

template <int lane_rows, class T>
__device__ __forceinline__ Pack<lane_rows, T> load_pack(const T* address) {
  constexpr int bytes = sizeof(Pack<lane_rows, T>);
  using Word = std::conditional_t<
      bytes == 2, unsigned short,
      std::conditional_t<bytes == 4, unsigned, std::conditional_t<bytes == 8, uint2, uint4>>>;
  constexpr int words = bytes / sizeof(Word);
  static_assert(words >= 1);
  Word word[words];
#pragma unroll
  for (int i = 0; i < words; ++i) word[i] = __ldcs(reinterpret_cast<const Word*>(address) + i);
  Pack<lane_rows, T> pack;
  memcpy(&pack, word, bytes);
  return pack;
}

template <class To, class From>
__device__ __forceinline__ To widen(From value) {
  return static_cast<To>(value);
}
template <class To>
__device__ __forceinline__ To widen(Half value) {
  return static_cast<To>(__half2float(__ushort_as_half(value.bits)));
}

// One slice, by one warp. Returns this lane's share of x . A x.
template <int lane_rows, bool with_dot, class Stored, class Column, class Vector>
__device__ __forceinline__ double multiply_slice(const Slices<Stored, Column>& a,
                                                 std::int32_t slice, const Vector* __restrict__ x,
                                                 Vector* __restrict__ y, bool add) {
  using Number = Sum<Vector>;
  constexpr bool narrow = sizeof(Column) == 2;
  constexpr auto kNone = static_cast<Column>(-1);
  constexpr int kSteps = kStepsInFlight<lane_rows>;
  const int lane = threadIdx.x % kLanes;
  const std::int32_t begin = a.slice_ptr[slice];
  const std::int32_t end = a.slice_ptr[slice + 1];
  constexpr int kSize = kLanes * lane_rows;
  const std::int64_t first = static_cast<std::int64_t>(begin) * kSize + lane * lane_rows;
  const Column* columns = a.columns + first;
  const Stored* values = a.values + first;

  std::int32_t target[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const std::int32_t row = slice * kSize + r * kLanes + lane;
    target[r] = row < a.rows ? (a.row_order ? a.row_order[row] : row) : -1;
  }

  Number sums[lane_rows] = {};
  for (std::int32_t step = begin; step < end; step += kSteps) {
    Pack<lane_rows, Column> column[kSteps];
    Pack<lane_rows, Stored> value[kSteps];
    std::int32_t base[kSteps];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const bool there = step + s < end;  // the same for the whole warp
      if (there) {
        column[s] = load_pack<lane_rows>(columns + s * kSize);
        value[s] = load_pack<lane_rows>(values + s * kSize);
      } else {
#pragma unroll
        for (int r = 0; r < lane_rows; ++r) column[s].of_row[r] = kNone;
      }
      base[s] = narrow && there ? __ldg(a.base + step + s) : 0;
    }
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
#pragma unroll
      for (int r = 0; r < lane_rows; ++r)
        if (column[s].of_row[r] != kNone)
          sums[r] +=
              widen<Number>(value[s].of_row[r]) * load<Number>(x + base[s] + column[s].of_row[r]);
    columns += kSteps * kSize;
    values += kSteps * kSize;
  }

  double dot = 0;
#pragma unroll
  for (int r = 0; r < lane_rows; ++r)
    if (target[r] >= 0) {
      store_or_add(y + target[r], sums[r], add);
      if constexpr (with_dot) dot += static_cast<double>(sums[r]) * load<Number>(x + target[r]);
    }
  return dot;
}

// Work units: first the tiles of the rows kept apart, which take longest, then slices by the block.
template <int lane_rows, bool with_apart, bool with_dot, class Stored, class Column, class Vector>
__global__ void __launch_bounds__(kThreads)
    multiply_units(Slices<Stored, Column> a, albus::Tiles<Stored> apart,
                   const Vector* __restrict__ x, Vector* __restrict__ y, bool add,
                   double* __restrict__ partials) {
  const std::int32_t tiles = with_apart ? apart.count : 0;
  const std::int32_t units = tiles + (a.count + kSlicesPerBlock - 1) / kSlicesPerBlock;
  double dot = 0;
  for (std::int32_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    if constexpr (with_apart) {
      if (unit < tiles) {
        __shared__ albus::TileMemory<Sum<Vector>> memory;
        const albus::RowSink<Vector, with_dot> sink{x, y, apart.row_map, add,
                                                    with_dot ? partials + gridDim.x : nullptr};
        dot += albus::multiply_tile(apart, unit, x, sink, memory);
        __syncthreads();  // before the memory is used again
        continue;
      }
    }
    const std::int32_t slice = (unit - tiles) * kSlicesPerBlock + threadIdx.x / kLanes;
    if (slice < a.count) dot += multiply_slice<lane_rows, with_dot>(a, slice, x, y, add);
  }
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) partials[blockIdx.x] = dot;
  }
}

template <class Vector>
class SellCuda final : public CudaKernel<Vector> {
 public:
  SellCuda(const DeviceCsr<Vector>& matrix, sell::Singles singles, StreamRef stream)
      : row_ptr_(matrix.row_ptr),
        singles_(singles),
        layout_(sell::build_device_layout(matrix, singles, steps_, stream)) {
    if (layout_.apart_rows > 0) {
      apart_ = albus::TileOwner<Sum<Vector>>(layout_.apart_rows, layout_.apart_nnz,
                                             layout_.apart_row_ptr.data(), stream);
      synchronize(stream);
    }
    const std::int64_t blocks = (layout_.slices + kSlicesPerBlock - 1) / kSlicesPerBlock;
    units_ = static_cast<int>(apart_.count() + blocks);
    dot_blocks_ =
        std::clamp(units_, 1, device_properties().multiprocessors * kBlocksPerMultiprocessor);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    if (units_ > 0) launch<false>(x, y, accumulate == Accumulate::yes, units_, nullptr, stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    sell::fill_device_values(row_ptr_, values, singles_, layout_, stream);
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = layout_.stored_bytes() + (layout_.apart_rows ? apart_.bytes() : 0),
            .padding_ratio =
                layout_.nnz ? static_cast<double>(layout_.stored_entries()) / layout_.nnz - 1 : 0.0,
            .steps = steps_};
  }

  std::size_t dot_partials() const override {
    return layout_.rows == layout_.cols ? dot_blocks_ + apart_.count() : 0;
  }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    launch<true>(x, y, false, dot_blocks_, partials.data(), stream);
  }

 private:
  template <bool with_dot>
  void launch(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, bool add, int blocks,
              double* partials, StreamRef stream) {
    if constexpr (std::is_same_v<Vector, double>) {
      if (layout_.code.singles)
        return launch_stored<with_dot>(layout_.singles.data(), layout_.apart_singles.data(), x, y,
                                       add, blocks, partials, stream);
    }
    launch_stored<with_dot>(layout_.values.data(), layout_.apart_values.data(), x, y, add, blocks,
                            partials, stream);
  }

  template <bool with_dot, class Stored>
  void launch_stored(const Stored* values, const Stored* apart_values, DeviceSpan<const Vector> x,
                     DeviceSpan<Vector> y, bool add, int blocks, double* partials,
                     StreamRef stream) {
    const std::int32_t* order = layout_.code.sorted ? layout_.row_order.data() : nullptr;
    const auto run = [&](auto lane_rows, const auto* columns) {
      constexpr int kRows = decltype(lane_rows)::value;
      using Column = std::remove_const_t<std::remove_pointer_t<decltype(columns)>>;
      const Slices<Stored, Column> slices{static_cast<std::int32_t>(layout_.slices),
                                          static_cast<std::int32_t>(layout_.slice_rows()),
                                          layout_.slice_ptr.data(),
                                          layout_.base.data(),
                                          columns,
                                          values,
                                          order};
      if (layout_.apart_rows > 0)
        multiply_units<kRows, true, with_dot><<<blocks, kThreads, 0, stream>>>(
            slices,
            apart_.template tiles<Stored>(layout_.apart_row_ptr.data(),
                                          layout_.apart_col_idx.data(), apart_values,
                                          order + layout_.slice_rows()),
            x.data(), y.data(), add, partials);
      else
        multiply_units<kRows, false, with_dot><<<blocks, kThreads, 0, stream>>>(
            slices, albus::Tiles<Stored>{}, x.data(), y.data(), add, partials);
    };
    const auto* offsets = static_cast<const std::uint16_t*>(layout_.offsets.data());
    const auto* columns = static_cast<const std::int32_t*>(layout_.columns.data());
    if (layout_.code.lane_rows == 1 && layout_.code.narrow)
      run(std::integral_constant<int, 1>{}, offsets);
    else if (layout_.code.lane_rows == 1)
      run(std::integral_constant<int, 1>{}, columns);
    else if (layout_.code.narrow)
      run(std::integral_constant<int, sell::rows_of_lane(sell::kSmallMatrix, true)>{}, offsets);
    else
      run(std::integral_constant<int, sell::rows_of_lane(sell::kSmallMatrix, false)>{}, columns);
    check_launch();
  }

  DeviceSpan<const std::int32_t> row_ptr_;
  sell::Singles singles_;
  std::vector<BuildStep> steps_;
  sell::DeviceLayout<Vector> layout_;
  albus::TileOwner<Sum<Vector>> apart_;
  int units_ = 0;
  int dot_blocks_ = 1;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_sell_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream) {
  constexpr auto kSingles =
      std::is_same_v<Value, double> ? sell::Singles::if_exact : sell::Singles::never;
  return std::make_unique<SellCuda<Value>>(matrix, kSingles, stream);
}

std::unique_ptr<CudaKernel<double>> build_sell_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream) {
  return std::make_unique<SellCuda<double>>(matrix, sell::Singles::always, stream);
}

template std::unique_ptr<CudaKernel<double>> build_sell_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_sell_cuda(const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_sell_cuda(const DeviceCsr<Half>&, StreamRef);

}  // namespace trireme
