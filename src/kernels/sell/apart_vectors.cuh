// SPDX-License-Identifier: BSD-3-Clause
// The product of the rows kept apart with several vectors. They are a CSR of long rows, and a warp
// takes a unit of kUnit nonzeros. The groups of a warp share the nonzeros of a row in turns.
//
//   nonzeros   |<------ unit 0 ------>|<------ unit 1 ------>|<------ unit 2 ------>|
//   rows       aaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcccccccccccccccccc
//
//   Row a is whole in unit 0, which stores it. Row b is cut: units 0, 1 and 2 store the sums of
//   their parts, and a second kernel adds them up in the order of the units. A unit has at most two
//   parts: its head, whose row begins in an earlier unit, and its tail.
#pragma once

#include <cstdint>

#include "device/check.hpp"
#include "kernels/vector_group.cuh"

namespace trireme::sell {

inline constexpr int kUnit = 256;       // nonzeros
inline constexpr int kMaxColumns = 32;  // of a pass
inline constexpr int kApartThreads = 256;
inline constexpr int kInFlight = 4;  // nonzeros of a group

inline constexpr int kUnitsPerBlock = kApartThreads / 32;

__host__ __device__ constexpr std::int64_t units_of(std::int64_t nnz) {
  return (nnz + kUnit - 1) / kUnit;
}

template <class Stored>
struct ApartRows {
  std::int32_t rows = 0, nnz = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* col_idx = nullptr;
  const Stored* values = nullptr;
  const std::int32_t* row_map = nullptr;  // the caller's row of each row

  // Thread blocks for all units, one warp per unit.
  __host__ __device__ std::int32_t blocks() const {
    return static_cast<std::int32_t>((units_of(nnz) + kUnitsPerBlock - 1) / kUnitsPerBlock);
  }
  // The row of nonzero k.
  __device__ std::int32_t row_of(std::int32_t k) const {
    std::int32_t low = 0, high = rows;  // row_ptr[low] <= k < row_ptr[high]
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      if (row_ptr[middle] <= k)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
};

// The place of a part of a unit, for this lane.
template <class Lane>
__device__ __forceinline__ typename Lane::Sums* part_of(typename Lane::Number* parts,
                                                        std::int64_t unit, bool is_tail) {
  return reinterpret_cast<typename Lane::Sums*>(
      parts + (2 * unit + (is_tail ? 1 : 0)) * Lane::kColumns + Lane::first());
}

// One warp multiplies one unit.
template <class Lane, class Stored>
__device__ __forceinline__ void multiply_apart(const ApartRows<Stored>& a, std::int32_t unit,
                                               const Lane& lane,
                                               typename Lane::Number* __restrict__ parts) {
  using Number = typename Lane::Number;
  constexpr int kGroups = 32 / Lane::kLanes;
  if (unit >= units_of(a.nnz)) return;  // the whole warp
  const std::int32_t begin = unit * kUnit;
  const std::int32_t end = a.nnz - begin < kUnit ? a.nnz : begin + kUnit;
  const int group = static_cast<int>(threadIdx.x) % 32 / Lane::kLanes;
  std::int32_t row = a.row_of(begin);
  for (std::int32_t from = begin; from < end; ++row) {
    const std::int32_t row_end = a.row_ptr[row + 1];
    const std::int32_t to = min(row_end, end);
    typename Lane::Sums sums{};
    for (std::int32_t k = from + group; k < to; k += kInFlight * kGroups) {
      std::int32_t column[kInFlight];
      Number value[kInFlight];
      typename Lane::Entries x[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const bool there = k + i * kGroups < to;
        column[i] = there ? __ldg(a.col_idx + k + i * kGroups) : -1;
        value[i] = there ? load<Number>(a.values + k + i * kGroups) : Number{};
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        x[i] = {};
        if (column[i] >= 0) x[i] = lane.x_of(column[i]);
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) sums.add_product(value[i], x[i]);
    }
    sums = vectors::sum_of_groups<Lane>(sums);
    const bool begins_here = a.row_ptr[row] >= begin;
    if (group == 0) {
      if (begins_here && row_end <= end)
        lane.finish(a.row_map[row], sums);
      else
        *part_of<Lane>(parts, unit, begins_here) = sums;
    }
    from = to;
  }
}

// The warp of the unit in which a cut row begins adds up the parts of the row.
template <class Lane, class Stored, class Vector>
__global__ void __launch_bounds__(kApartThreads)
    add_parts(ApartRows<Stored> a, vectors::Operands<Vector> operands,
              typename Lane::Number* parts) {
  constexpr int kGroups = 32 / Lane::kLanes;
  const auto unit = static_cast<std::int32_t>(blockIdx.x * kUnitsPerBlock + threadIdx.x / 32);
  if (unit + 1 >= units_of(a.nnz)) return;  // No row is cut at the end of the last unit.
  const std::int32_t end = (unit + 1) * kUnit;
  const std::int32_t row = a.row_of(end - 1);
  if (a.row_ptr[row + 1] <= end || a.row_ptr[row] < unit * kUnit) return;
  const std::int32_t last = (a.row_ptr[row + 1] - 1) / kUnit;
  const int group = static_cast<int>(threadIdx.x) % 32 / Lane::kLanes;
  typename Lane::Sums sums{};
#pragma unroll 4
  for (std::int32_t u = unit + group; u <= last; u += kGroups)
    sums.add_product(1, *part_of<Lane>(parts, u, u == unit));
  sums = vectors::sum_of_groups<Lane>(sums);
  if (group == 0) Lane(operands).finish(a.row_map[row], sums);
}

}  // namespace trireme::sell
