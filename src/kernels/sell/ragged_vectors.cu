// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor of ragged rows for several vectors. A warp multiplies a slice. A group of lanes
// (kernels/vector_group.cuh) does what one lane does in the product of one vector, so that the warp
// goes through the 32 lanes of the slice in several turns:
//
//   8 vectors in FP64, a slice of 16 lanes per row; the warp has 8 groups:
//
//     turn        0              1              2              3
//     lanes       0 .. 7         8 .. 15        16 .. 23       24 .. 31     of the slice
//     row         a              a, complete    b              b, complete
//
// The sums of the groups of a row are added when the row is complete; those of the parts of a cut
// row by a second kernel. Bytes moved for k vectors: those of ragged.hpp once per pass, and 16 k
// per row (double). The result is deterministic: the order in which a row is summed depends on the
// layout and on the number of vectors of a pass only.
#include "kernels/sell/ragged_vectors.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/check.hpp"
#include "kernels/sell/ragged_slices.cuh"
#include "kernels/vector_group.cuh"

namespace trireme::sell {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kMaxColumns = 32;  // of a pass

// The sum of this lane's vectors of a part.
template <class Lane, class Number>
__device__ __forceinline__ Number* part_at(Number* parts, std::int32_t part) {
  return parts + static_cast<std::int64_t>(part) * Lane::kColumns + Lane::first();
}

template <class Lane, int lane_rows, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads, tuning::kRaggedBlocksOfVectors)
    multiply_slices(RaggedSlices<Stored> a, vectors::Operands<Vector> operands,
                    typename Lane::Number* __restrict__ parts) {
  using Number = typename Lane::Number;
  using Sums = typename Lane::Sums;
  constexpr int kGroups = kLanes / Lane::kLanes;  // of the warp
  const std::int32_t number = static_cast<std::int32_t>(blockIdx.x) * kWarps +
                              static_cast<std::int32_t>(threadIdx.x) / kLanes;
  if (number >= a.count) return;
  const Lane lane(operands);
  const int group = static_cast<int>(threadIdx.x) % kLanes / Lane::kLanes;
  const RaggedSlice slice = a.slice(number);
  const int lanes = slice.lanes();           // of a row
  const int together = max(lanes, kGroups);  // lanes of the slice after which rows are complete
  Sums sums[lane_rows] = {};
  for (int turn = 0; turn < kLanes; turn += kGroups) {
    const int slice_lane = turn + group;
    for_entries<lane_rows>(a, slice, slice_lane, [&](int r, Stored value, std::int32_t column) {
      sums[r].add_product(static_cast<Number>(value), lane.x_of(column));
    });
    if ((turn + kGroups) % together != 0) continue;
    if (slice.part()) {
#pragma unroll
      for (int r = 1; r < lane_rows; ++r)
#pragma unroll
        for (int j = 0; j < Lane::kVectors; ++j) sums[0].of[j] += sums[r].of[j];
    }
    const int added = min(lanes, kGroups);  // groups of a row
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const Sums sum = vectors::sum_of_groups<Lane>(sums[r], added * Lane::kLanes);
      sums[r] = {};
      const int row = slice.row_of(slice_lane, r);
      if (group % added != 0) continue;
      if (!slice.part()) {
        if (row < slice.rows()) lane.finish(a.row_order[slice.first_row + row], sum);
      } else if (r == 0) {
        const CutRow cut = a.cut_rows[slice.first_row];
        *reinterpret_cast<Sums*>(part_at<Lane>(parts, cut.first_part + number - cut.first_slice)) =
            sum;
      }
    }
  }
}

// One warp per cut row.
template <class Lane, class Vector>
__global__ void __launch_bounds__(kThreads)
    add_parts(std::int32_t count, const CutRow* cut_rows,
              const typename Lane::Number* __restrict__ parts, vectors::Operands<Vector> operands) {
  using Sums = typename Lane::Sums;
  const std::int32_t number = static_cast<std::int32_t>(blockIdx.x) * kWarps +
                              static_cast<std::int32_t>(threadIdx.x) / kLanes;
  if (number >= count) return;
  const Lane lane(operands);
  const CutRow cut = cut_rows[number];
  const int group = static_cast<int>(threadIdx.x) % kLanes / Lane::kLanes;
  Sums sum{};
  for (std::int32_t part = group; part < cut.parts; part += kLanes / Lane::kLanes) {
    const Sums one = *reinterpret_cast<const Sums*>(part_at<Lane>(parts, cut.first_part + part));
#pragma unroll
    for (int j = 0; j < Lane::kVectors; ++j) sum.of[j] += one.of[j];
  }
  sum = vectors::sum_of_groups<Lane>(sum);
  if (group == 0) lane.finish(cut.row, sum);
}

unsigned blocks_for(std::int64_t warps) {
  return static_cast<unsigned>((warps + kWarps - 1) / kWarps);
}

}  // namespace

template <class Value>
RaggedVectors<Value>::RaggedVectors(const RaggedDeviceLayout<Value>& layout, StreamRef stream)
    : parts_(layout.parts * kMaxColumns, stream) {}

template <class Value>
void RaggedVectors<Value>::multiply(const RaggedDeviceLayout<Value>& layout,
                                    DeviceMultiVector<const Value> x, DeviceMultiVector<Value> y,
                                    bool add, DeviceSpan<const float> diagonal, StreamRef stream) {
  const auto cut_rows = static_cast<std::int32_t>(layout.cut_rows.size());
  vectors::in_passes<Value, 4>(
      x, y, add, diagonal, [&]<class Lane>(std::type_identity<Lane>, const auto& operands) {
        with_ragged_slices<Value>(layout, [&](auto lane_rows, const auto& slices) {
          multiply_slices<Lane, decltype(lane_rows)::value>
              <<<blocks_for(slices.count), kThreads, 0, stream>>>(slices, operands, parts_.data());
        });
        check_launch();
        if (cut_rows == 0) return;
        add_parts<Lane><<<blocks_for(cut_rows), kThreads, 0, stream>>>(
            cut_rows, layout.cut_rows.data(), static_cast<const double*>(parts_.data()), operands);
        check_launch();
      });
}

template class RaggedVectors<double>;
template class RaggedVectors<float>;

}  // namespace trireme::sell
