// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor for several vectors. A group of lanes (kernels/vector_group.cuh) has the rows
// that one lane has in the product of one vector.
//
//   8 vectors in FP64, 4 rows per lane: a warp takes lanes 0 to 7 of a slice, and 4 warps a slice
//
//     one step      | r0 r32 r64 r96 | r1 r33 r65 r97 | ... | r7 r39 r71 r103 |
//     of a warp          group 0          group 1                 group 7
//
// All lanes of a group load the same columns and the same values, by one wide load each. Columns
// are loaded one step ahead of their use. One thread per slice asks the L2 cache for a slice that a
// later thread block will multiply, so that few loads of the matrix wait for the memory.
//
// Bytes moved for k vectors (double): those of layout.hpp per nonzero, once per pass, and 16 k per
// row. The result is deterministic: a lane adds up a row of a slice in storage order; for the rows
// kept apart see apart_vectors.cuh.
#include "kernels/sell/vectors.hpp"

#include <type_traits>

#include "device/check.hpp"
#include "device/device.hpp"
#include "kernels/sell/apart_vectors.cuh"
#include "kernels/sell/chunks.cuh"
#include "kernels/vector_group.cuh"

namespace trireme::sell {
namespace {

constexpr int kThreads = kApartThreads;

// What lane `slice_lane` of a slice has in one step. In a step past the end of the slice, all rows
// have `none`.
template <int lane_rows, class T>
__device__ __forceinline__ Pack<lane_rows, T> load_step(const T* numbers, std::int32_t slice_lane,
                                                        std::int32_t step, std::int32_t end,
                                                        T none) {
  if (step < end)  // the same for the whole warp
    return load_pack<lane_rows>(numbers + (static_cast<std::int64_t>(step) * kLanes + slice_lane) *
                                              lane_rows);
  Pack<lane_rows, T> pack;
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) pack.of_row[r] = none;
  return pack;
}

// The columns of lane `slice_lane` of a slice, step by step.
template <int lane_rows, class Stored, class Column>
class LaneColumns {
 public:
  struct Step {
    Pack<lane_rows, Column> offsets;
    std::int32_t base = 0;

    __device__ __forceinline__ bool has(int r) const {
      return offsets.of_row[r] != static_cast<Column>(-1);
    }
    __device__ __forceinline__ std::int32_t of(int r) const { return base + offsets.of_row[r]; }
  };

  __device__ __forceinline__ LaneColumns(const Slices<Stored, Column>& a, std::int32_t,
                                         std::int32_t slice_lane, std::int32_t, std::int32_t end)
      : a_(a), slice_lane_(slice_lane), end_(end) {}
  // The columns of a step; past the last step there are none.
  __device__ __forceinline__ Step at(std::int32_t step) const {
    Step columns{
        load_step<lane_rows>(a_.columns, slice_lane_, step, end_, static_cast<Column>(-1))};
    if (kIsNarrow<Column> && step < end_) columns.base = __ldg(a_.base + step);
    return columns;
  }

 private:
  const Slices<Stored, Column>& a_;
  std::int32_t slice_lane_, end_;
};

template <int lane_rows, class Stored, class Column>
requires(kIsPatterned<Column> || kIsRepeated<Column>) class LaneColumns<lane_rows, Stored, Column> {
 public:
  using Step = PatternedColumns<lane_rows>;

  __device__ __forceinline__ LaneColumns(const Slices<Stored, Column>& a, std::int32_t slice,
                                         std::int32_t slice_lane, std::int32_t begin,
                                         std::int32_t end)
      : differences_(a.differences - begin), values_(a.values - begin), end_(end) {
    Pack<lane_rows, Column> patterns;
    if constexpr (kIsPatterned<Column>)
      patterns = load_step<lane_rows>(a.columns, slice_lane, slice, a.count, Column{});
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const std::int32_t row = (slice * lane_rows + r) * kLanes + slice_lane;
      row_[r] = row < a.rows && a.row_order ? a.row_order[row] : row;
      if constexpr (kIsRepeated<Column>)
        patterns.of_row[r] = row < a.rows ? a.columns[row] : Column{};
      first_[r] = static_cast<std::int32_t>(patterns.of_row[r]) * a.pattern_width;
    }
  }
  __device__ __forceinline__ Step at(std::int32_t step) const {
    Step columns;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      columns.row[r] = row_[r];
      columns.difference[r] = step < end_ ? __ldg(differences_ + first_[r] + step) : kNoDifference;
    }
    return columns;
  }
  // The values of a step before the end, where patterns have values.
  __device__ __forceinline__ Pack<lane_rows, Stored> values(std::int32_t step) const {
    Pack<lane_rows, Stored> values;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) values.of_row[r] = __ldg(values_ + first_[r] + step);
    return values;
  }

 private:
  // Those of step 0 of the matrix, if the slice began there.
  const std::int32_t* differences_;
  const Stored* values_;
  std::int32_t row_[lane_rows], first_[lane_rows];
  std::int32_t end_;
};

// The steps of a slice: of the matrix, or for repeated rows, which have no steps of their own, from
// 0 on.
struct Steps {
  std::int32_t begin = 0, end = 0;
};
template <int lane_rows, class Stored, class Column>
__device__ __forceinline__ Steps steps_of(const Slices<Stored, Column>& a, std::int32_t slice) {
  if constexpr (!kIsRepeated<Column>) return {a.slice_ptr[slice], a.slice_ptr[slice + 1]};
  Steps steps;
  // The layout has slices of 32 rows.
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const std::int32_t i = slice * lane_rows + r;
    if (i * kLanes < a.rows) steps.end = max(steps.end, a.slice_ptr[i + 1] - a.slice_ptr[i]);
  }
  return steps;
}

// Asks the L2 cache for `count` numbers, on GPUs of compute capability 9.0 or higher; others lack
// the instruction. Their address and their bytes are multiples of 16.
template <class T>
__device__ __forceinline__ void prefetch(const T* numbers, std::int64_t count) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(numbers)),
      "r"(static_cast<std::uint32_t>(count * sizeof(T)))
      : "memory");
#endif
}
template <int lane_rows, class Stored, class Column>
__device__ __forceinline__ void prefetch_slice(const Slices<Stored, Column>& a,
                                               std::int32_t slice) {
  if (slice >= a.count) return;
  constexpr int kSize = kLanes * lane_rows;
  const std::int64_t begin = a.slice_ptr[slice], end = a.slice_ptr[slice + 1];
  if (begin == end) return;
  if constexpr (kIsPatterned<Column>)
    prefetch(a.columns + static_cast<std::int64_t>(slice) * kSize, kSize);
  else
    prefetch(a.columns + begin * kSize, (end - begin) * kSize);
  prefetch(a.values + begin * kSize, (end - begin) * kSize);
}

// Grid: first the blocks of the rows kept apart, which take longest, then those of the slices, one
// group per lane of a slice. `ahead` is the distance in slices to the slice that is prefetched, or
// 0 for none.
template <class Lane, int lane_rows, class Stored, class Column, class Vector>
__global__ void __launch_bounds__(kThreads, (tuning::kBlocksOfVectors<lane_rows, Vector>))
    multiply_by_vectors(Slices<Stored, Column> a, ApartRows<Stored> apart,
                        vectors::Operands<Vector> operands,
                        typename Lane::Number* __restrict__ parts, int ahead) {
  const Lane lane(operands);
  auto block = static_cast<std::int32_t>(blockIdx.x);
  if (block < apart.blocks()) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    return multiply_apart(apart, block * kUnitsPerBlock + warp, lane, parts);
  }
  block -= apart.blocks();
  const std::int32_t group =
      block * (kThreads / Lane::kLanes) + static_cast<int>(threadIdx.x) / Lane::kLanes;
  const std::int32_t slice = group / kLanes, slice_lane = group % kLanes;
  if (slice >= a.count) return;

  typename Lane::Sums sums[lane_rows] = {};
  const auto [begin, end] = steps_of<lane_rows>(a, slice);
  const LaneColumns<lane_rows, Stored, Column> lane_columns(a, slice, slice_lane, begin, end);
  auto next = lane_columns.at(begin);
  if constexpr (!kIsRepeated<Column>)
    if (ahead > 0 && slice_lane == 0 && threadIdx.x % Lane::kLanes == 0)
      prefetch_slice<lane_rows>(a, slice + ahead);
  for (std::int32_t step = begin; step < end; ++step) {
    const auto columns = next;
    Pack<lane_rows, Stored> values;
    if constexpr (kIsRepeated<Column>)
      values = lane_columns.values(step);
    else
      values = load_step<lane_rows>(a.values, slice_lane, step, end, Stored{});
    next = lane_columns.at(step + 1);
    typename Lane::Entries x[lane_rows] = {};  // Where a row has no entry, its value is 0 as well.
#pragma unroll
    for (int r = 0; r < lane_rows; ++r)
      if (columns.has(r)) x[r] = lane.x_of(columns.of(r));
#pragma unroll
    for (int r = 0; r < lane_rows; ++r)
      sums[r].add_product(static_cast<typename Lane::Number>(values.of_row[r]), x[r]);
  }
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const std::int32_t row = (slice * lane_rows + r) * kLanes + slice_lane;
    if (row < a.rows) lane.finish(a.row_order ? a.row_order[row] : row, sums[r]);
  }
}

template <class Lane, int lane_rows, class Stored, class Column, class Vector>
void launch(const Slices<Stored, Column>& a, const ApartRows<Stored>& apart,
            const vectors::Operands<Vector>& operands, typename Lane::Number* parts, const Gpu& gpu,
            StreamRef stream) {
  constexpr int kGroups = kThreads / Lane::kLanes;  // of a block
  const std::int64_t groups = static_cast<std::int64_t>(a.count) * kLanes;
  const auto blocks = static_cast<unsigned>(apart.blocks() + (groups + kGroups - 1) / kGroups);
  if (blocks == 0) return;
  // Half of the slices that are multiplied at the same time; three times as many are up to 20 %
  // slower on stencils. Where 32-bit columns are in the caller's order, the L2 cache is needed for
  // X (random: 12 % slower with prefetching).
  const std::int64_t ahead =
      gpu.multiprocessors * tuning::kBlocksOfVectors<lane_rows, Vector> * kGroups / kLanes / 2;
  const bool prefetches = (!std::is_same_v<Column, std::int32_t> || a.row_order) &&
                          ahead * gpu.bytes_per_slice <= gpu.l2_bytes / 2;
  multiply_by_vectors<Lane, lane_rows><<<blocks, kThreads, 0, stream>>>(
      a, apart, operands, parts, prefetches ? static_cast<int>(ahead) : 0);
  check_launch();
  if (apart.nnz == 0) return;
  add_parts<Lane>
      <<<static_cast<unsigned>(apart.blocks()), kApartThreads, 0, stream>>>(apart, operands, parts);
  check_launch();
}

// The slices with `lane_rows` rows per lane; repeated rows are stored with one.
template <int lane_rows, class Value>
std::int32_t slices_of(const DeviceLayout<Value>& layout) {
  const int together = lane_rows / layout.form.lane_rows;
  return static_cast<std::int32_t>((layout.slices + together - 1) / together);
}

// Calls call(constant number of rows per lane, Slices) with the arrays that are in use.
template <class Value, class Call>
void with_slices(const DeviceLayout<Value>& layout, Call&& call) {
  const auto with_values = [&](const auto* values) {
    const auto with_columns = [&](auto lane_rows, const auto* columns) {
      using Column = std::remove_const_t<std::remove_pointer_t<decltype(columns)>>;
      using Stored = std::remove_const_t<std::remove_pointer_t<decltype(values)>>;
      call(lane_rows,
           Slices<Stored, Column>{slices_of<lane_rows.value>(layout),
                                  static_cast<std::int32_t>(layout.slice_rows()),
                                  layout.slice_ptr.data(), layout.base.data(), columns, values,
                                  layout.form.sorted ? layout.row_order.data() : nullptr,
                                  layout.differences.data(), layout.pattern_width});
    };
    const std::uint16_t* offsets = layout.offsets.data();
    const std::int32_t* columns = layout.columns.data();
    const PatternId* patterns = layout.patterns.data();
    const auto* repeated = reinterpret_cast<const RepeatedId*>(patterns);
    if (layout.form.repeated && is_small(layout.rows, layout.nnz))
      with_columns(std::integral_constant<int, 1>{}, repeated);
    else if (layout.form.repeated)
      with_columns(std::integral_constant<int, kMaxLaneRows>{}, repeated);
    else if (layout.form.lane_rows == 1 && layout.form.patterned)
      with_columns(std::integral_constant<int, 1>{}, patterns);
    else if (layout.form.patterned)
      with_columns(std::integral_constant<int, kMaxLaneRows>{}, patterns);
    else if (layout.form.lane_rows == 1 && layout.form.narrow)
      with_columns(std::integral_constant<int, 1>{}, offsets);
    else if (layout.form.lane_rows == 1)
      with_columns(std::integral_constant<int, 1>{}, columns);
    else if (layout.form.narrow)
      with_columns(std::integral_constant<int, kMaxLaneRows>{}, offsets);
    else
      with_columns(std::integral_constant<int, kWideLaneRows>{}, columns);
  };
  if constexpr (std::is_same_v<Value, double>) {
    if (layout.form.in_fp32)
      return with_values(static_cast<const float*>(layout.fp32_values.data()));
  }
  with_values(static_cast<const Value*>(layout.values.data()));
}

// Calls call(ApartRows) with values of type Stored.
template <class Stored, class Value>
ApartRows<Stored> apart_rows(const DeviceLayout<Value>& layout) {
  if (layout.apart_rows == 0) return {};
  const Stored* values;
  if constexpr (std::is_same_v<Stored, Value>)
    values = layout.apart_values.data();
  else
    values = layout.apart_fp32.data();
  return {static_cast<std::int32_t>(layout.apart_rows),
          static_cast<std::int32_t>(layout.apart_nnz),
          layout.apart_row_ptr.data(),
          layout.apart_col_idx.data(),
          values,
          layout.row_order.data() + layout.slice_rows()};
}

}  // namespace

template <class Value>
Vectors<Value>::Vectors(const DeviceLayout<Value>& layout, StreamRef stream) {
  const DeviceProperties gpu = device_properties();
  gpu_ = {.multiprocessors = gpu.multiprocessors,
          .l2_bytes = static_cast<std::int64_t>(gpu.l2_bytes),
          .bytes_per_slice = layout.slices > 0 ? layout.stored_bytes() / layout.slices : 0};
  if (layout.apart_nnz > 0)
    parts_ = DeviceBuffer<double>(2 * units_of(layout.apart_nnz) * kMaxColumns, stream);
}

template <class Value>
void Vectors<Value>::multiply(const DeviceLayout<Value>& layout, DeviceMultiVector<const Value> x,
                              DeviceMultiVector<Value> y, bool add,
                              DeviceSpan<const float> diagonal, StreamRef stream) {
  vectors::in_passes<Value>(
      x, y, add, diagonal, [&]<class Lane>(std::type_identity<Lane>, const auto& operands) {
        with_slices(layout, [&]<class Stored, class Column>(auto lane_rows,
                                                            const Slices<Stored, Column>& slices) {
          launch<Lane, decltype(lane_rows)::value>(slices, apart_rows<Stored>(layout), operands,
                                                   parts_.data(), gpu_, stream);
        });
      });
}

template class Vectors<double>;
template class Vectors<float>;

}  // namespace trireme::sell
