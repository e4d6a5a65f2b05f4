// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor of repeated rows. A lane has one row: it reads the number of the row's pattern,
// one slice ahead of its use, and then four differences and four values of the pattern at a time.
// What is left to read from memory are x and 2 bytes per row, so that the L1 cache is the limit. In
// FP32 groups of rows take fewer loads (repeated_groups.hpp).
//
// The patterns of a large matrix are copied into shared memory where they are small (a trial on an
// H200, poisson3d 150: 25 us, and 31 from the L1 cache; 81 patterns of 88 entries are slower there,
// 45 and 36). Their values are widened there once: of the instructions of a product, those that
// widen FP32 to FP64 are the slowest.
//
// The result is deterministic: a lane adds up a row in storage order.
#include "kernels/sell/repeated.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/device.hpp"
#include "kernels/numeric.cuh"
#include "kernels/sell/slices.cuh"
#include "kernels/sell/widen.cuh"

namespace trireme::sell {
namespace {

template <class Stored, class Vector>
struct RepeatedRows {
  std::int32_t rows = 0, slices = 0;
  const PatternId* patterns = nullptr;
  const std::int32_t* slice_ptr = nullptr;
  const std::int32_t* row_order = nullptr;  // null: the caller's order
  const std::int32_t* differences = nullptr;
  const Stored* values = nullptr;
  std::int32_t width = 0, entries = 0;  // of a pattern, of all patterns
  const Vector* x = nullptr;
  const Vector* x_of_rows = nullptr;  // for the dot product and `diagonal`
  const float* diagonal = nullptr;    // null, or see CudaKernel::add_diagonal()
  Vector* y = nullptr;
  bool add = false;
  double* dots = nullptr;
  std::int32_t dot_count = 0;

  // Where the pattern of this lane's row begins, and the steps of the slice. `uniform`: of every
  // slice they are the width of a pattern.
  struct Begin {
    std::int32_t entry = 0, steps = 0;
  };
  template <bool uniform>
  __device__ __forceinline__ Begin begin_of(std::int32_t slice, int lane) const {
    if (slice >= slices) return {};
    const std::int32_t place = slice * kLanes + lane;
    const std::int32_t steps =
        uniform ? width : __ldg(slice_ptr + slice + 1) - __ldg(slice_ptr + slice);
    if (place >= rows) return {0, steps};  // pattern 0
    return {__ldcs(reinterpret_cast<const std::uint16_t*>(patterns) + place) * width, steps};
  }
};

// tuning::kPatternSteps numbers of a pattern, by 16-byte loads.
template <bool in_shared, class T>
__device__ __forceinline__ Pack<tuning::kPatternSteps, T> pattern_pack(const T* address) {
  if constexpr (in_shared) return *reinterpret_cast<const Pack<tuning::kPatternSteps, T>*>(address);
  constexpr int bytes = sizeof(Pack<tuning::kPatternSteps, T>);
  using Word = std::conditional_t<bytes == 8, uint2, uint4>;
  Word word[bytes / sizeof(Word)];
#pragma unroll
  for (int i = 0; i < static_cast<int>(bytes / sizeof(Word)); ++i)
    word[i] = __ldg(reinterpret_cast<const Word*>(address) + i);
  Pack<tuning::kPatternSteps, T> pack;
  memcpy(&pack, word, bytes);
  return pack;
}

// Where a product reads the patterns.
template <class Value>
struct Patterns {
  const std::int32_t* differences;
  const Value* values;
};

template <bool in_shared, class Stored, class Vector>
__device__ __forceinline__ auto patterns_of(const RepeatedRows<Stored, Vector>& a,
                                            unsigned char* memory) {
  using Number = Sum<Vector>;
  if constexpr (in_shared) {
    auto* differences = reinterpret_cast<std::int32_t*>(memory);
    auto* values = reinterpret_cast<Number*>(memory + a.entries * sizeof(std::int32_t));
    for (std::int32_t i = threadIdx.x; i < a.entries; i += blockDim.x) {
      differences[i] = a.differences[i];
      values[i] = widen<Number>(a.values[i]);
    }
    __syncthreads();
    return Patterns<Number>{differences, values};
  } else {
    return Patterns<Stored>{a.differences, a.values};
  }
}

template <bool in_shared, bool uniform, bool with_dot, class Stored, class Vector>
__global__ void __launch_bounds__(in_shared ? tuning::kSharedThreads : tuning::kRepeatedThreads,
                                  in_shared ? tuning::kSharedBlocks : 12)
    multiply_repeated(RepeatedRows<Stored, Vector> a) {
  using Number = Sum<Vector>;
  extern __shared__ __align__(32) unsigned char memory[];
  const auto patterns = patterns_of<in_shared>(a, memory);
  constexpr int kWarps = (in_shared ? tuning::kSharedThreads : tuning::kRepeatedThreads) / kLanes;
  const int lane = threadIdx.x % kLanes;
  const auto stride = static_cast<std::int32_t>(gridDim.x) * kWarps;
  auto slice = static_cast<std::int32_t>(blockIdx.x * kWarps + threadIdx.x / kLanes);
  double dot = 0;
  auto begin = a.template begin_of<uniform>(slice, lane);
  for (; slice < a.slices; slice += stride) {
    const std::int32_t place = slice * kLanes + lane;
    std::int32_t row = place;
    if constexpr (!uniform)
      if (place < a.rows && a.row_order) row = __ldg(a.row_order + place);
    const auto next = a.template begin_of<uniform>(slice + stride, lane);
    Number sum{};
    for (std::int32_t step = 0; step < (uniform ? a.width : begin.steps);
         step += tuning::kPatternSteps) {
      const auto difference = pattern_pack<in_shared>(patterns.differences + begin.entry + step);
      const auto value = pattern_pack<in_shared>(patterns.values + begin.entry + step);
#pragma unroll
      for (int s = 0; s < tuning::kPatternSteps; ++s)
        if (difference.of_row[s] != kNoDifference)
          sum += widen<Number>(value.of_row[s]) * load<Number>(a.x + row + difference.of_row[s]);
    }
    if (place < a.rows) {
      sum = with_diagonal(sum, a.diagonal, a.x_of_rows, row);
      store_or_add(a.y + row, sum, a.add);
      if constexpr (with_dot) dot += static_cast<double>(sum) * load<Number>(a.x_of_rows + row);
    }
    begin = next;
  }
  if constexpr (with_dot) {
    dot = block_sum<kWarps * kLanes>(dot);
    if (threadIdx.x == 0) a.dots[blockIdx.x] = dot;
    if (blockIdx.x == 0)
      for (auto i = static_cast<std::int32_t>(gridDim.x + threadIdx.x); i < a.dot_count;
           i += kWarps * kLanes)
        a.dots[i] = 0;
  }
}

template <class Value>
constexpr std::size_t kBytesPerEntry = sizeof(std::int32_t) + sizeof(Sum<Value>);

}  // namespace

template <class Value>
RepeatedProduct<Value>::RepeatedProduct(const DeviceLayout<Value>& layout, StreamRef stream) {
  if constexpr (std::is_same_v<Value, float>) groups_ = RepeatedGroups(layout, stream);
  const std::size_t bytes = layout.differences.size() * kBytesPerEntry<Value>;
  const int multiprocessors = trireme::multiprocessors();
  const bool in_shared = bytes <= tuning::kMaxSharedPatterns && layout.rows >= kLargeMatrix;
  if (in_shared) shared_bytes_ = bytes;
  uniform_ = !layout.form.sorted &&
             tuning::has_uniform_patterns(layout.slices, layout.steps, layout.pattern_width);
  const std::int64_t warps =
      (in_shared ? tuning::kSharedThreads : tuning::kRepeatedThreads) / kLanes;
  const std::int64_t most =
      std::int64_t{in_shared ? tuning::kSharedBlocks : tuning::kRepeatedBlocks} * multiprocessors;
  blocks_ = static_cast<int>(std::min(most, (layout.slices + warps - 1) / warps));
}

template <class Value>
void RepeatedProduct<Value>::multiply(const DeviceLayout<Value>& layout, DeviceSpan<const Value> x,
                                      DeviceSpan<const Value> x_of_rows,
                                      DeviceSpan<const float> diagonal, DeviceSpan<Value> y,
                                      bool add, DeviceSpan<double> dots, StreamRef stream) const {
  if (blocks_ == 0) return;
  if constexpr (std::is_same_v<Value, float>) {
    if (!add && groups_.takes(x, x_of_rows, y))
      return groups_.multiply(layout, x, x_of_rows, diagonal, y, dots, stream);
  }
  const auto with_values = [&](const auto* values) {
    using Stored = std::remove_const_t<std::remove_pointer_t<decltype(values)>>;
    const RepeatedRows<Stored, Value> rows{
        .rows = static_cast<std::int32_t>(layout.rows),
        .slices = static_cast<std::int32_t>(layout.slices),
        .patterns = layout.patterns.data(),
        .slice_ptr = layout.slice_ptr.data(),
        .row_order = layout.form.sorted ? layout.row_order.data() : nullptr,
        .differences = layout.differences.data(),
        .values = values,
        .width = layout.pattern_width,
        .entries = static_cast<std::int32_t>(layout.differences.size()),
        .x = x.data(),
        .x_of_rows = x_of_rows.data(),
        .diagonal = diagonal.data(),
        .y = y.data(),
        .add = add,
        .dots = dots.data(),
        .dot_count = static_cast<std::int32_t>(dots.size())};
    const auto launch = [&](auto kernel, int threads) {
      kernel<<<blocks_, threads, shared_bytes_, stream>>>(rows);
    };
    const auto with_patterns = [&](auto in_shared, auto uniform, int threads) {
      if (dots.empty())
        launch(multiply_repeated<in_shared.value, uniform.value, false, Stored, Value>, threads);
      else
        launch(multiply_repeated<in_shared.value, uniform.value, true, Stored, Value>, threads);
    };
    if (shared_bytes_ == 0)
      with_patterns(std::false_type{}, std::false_type{}, tuning::kRepeatedThreads);
    else if (uniform_)
      with_patterns(std::true_type{}, std::true_type{}, tuning::kSharedThreads);
    else
      with_patterns(std::true_type{}, std::false_type{}, tuning::kSharedThreads);
    check_launch();
  };
  if constexpr (std::is_same_v<Value, double>)
    if (layout.form.in_fp32) return with_values(layout.fp32_values.data());
  with_values(static_cast<const Value*>(layout.values.data()));
}

template class RepeatedProduct<double>;
template class RepeatedProduct<float>;
template class RepeatedProduct<Half>;

}  // namespace trireme::sell
