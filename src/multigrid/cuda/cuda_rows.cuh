// SPDX-License-Identifier: BSD-3-Clause
// The product of the rows of cuda_rows.hpp within a CUDA kernel, with the update that ends a row.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "multigrid/cuda/cuda_rows.hpp"
#include "multigrid/cycle_step.hpp"

namespace trireme::multigrid {

inline constexpr int kWarp = 32;
inline constexpr std::uint16_t kNoColumn = 0xffff;

namespace detail {

// The column of entry k of the layout, which is in step k / 32; -1: there is no entry.
template <class Column>
__device__ __forceinline__ std::int32_t column_at(const RowsView& a, std::int64_t k,
                                                  std::int32_t step) {
  if constexpr (sizeof(Column) == 2) {
    const std::uint16_t column = static_cast<const std::uint16_t*>(a.columns)[k];
    return column == kNoColumn ? -1 : a.first[step] + column;
  } else {
    return static_cast<const std::int32_t*>(a.columns)[k];
  }
}

}  // namespace detail

// Multiplies the rows of a chunk and ends them as `kind` says. Called by a whole warp. Vectors that
// other blocks of the same launch write are read by Load.
template <StepKind kind, bool from_zero, class Load, class Value, class Column>
__device__ __forceinline__ void multiply_chunk(const RowsView& a, const StepData& s,
                                               std::int32_t chunk) {
  constexpr int kBatch = 4;  // steps whose loads are in flight together
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int lanes = 1 << a.lanes_shift;
  const std::int64_t row =
      static_cast<std::int64_t>(chunk) * (kWarp >> a.lanes_shift) + (lane >> a.lanes_shift);
  const bool ends_row = (lane & (lanes - 1)) == 0 && row < a.rows;
  StepRow own;
  if (ends_row) own = load_step_row<kind, from_zero, Load>(s, row);

  double sum = 0;
  const std::int32_t end = a.step_ptr[chunk + 1];
  for (std::int32_t step = a.step_ptr[chunk]; step < end; step += kBatch) {
    std::int32_t column[kBatch];
    Value value[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      column[k] = -1;
      if (step + k >= end) continue;
      const std::int64_t entry = static_cast<std::int64_t>(step + k) * kWarp + lane;
      column[k] = detail::column_at<Column>(a, entry, step + k);
      value[k] = static_cast<const Value*>(a.values)[entry];
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (column[k] >= 0)
        sum += static_cast<double>(value[k]) * step_x<from_zero, Load>(s, column[k]);
  }
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(kFullWarp, sum, offset, lanes);
  if (ends_row) finish_step_row<kind, from_zero>(s, row, own, sum);
}

}  // namespace trireme::multigrid
