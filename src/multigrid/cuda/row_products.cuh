// SPDX-License-Identifier: BSD-3-Clause
// Products of the rows of a matrix with a vector. kLanesOfRow lanes share a row, and each of them
// takes several rows at once, whose loads overlap.
//
// Bytes per entry: 12 for value and column, 1 for a mask of strong entries; and x by row.
#pragma once

#include <cstdint>

#include "device/check.hpp"
#include "multigrid/set_up/filtered_row.hpp"

namespace trireme::multigrid {

namespace row_kernels {

inline constexpr int kProductThreads = 128;
inline constexpr int kRowsOfLanes = 4;

// Calls use(i, product) with the product of each row i and x, in the order of
// FilteredRows::product().
template <class Use>
__global__ void __launch_bounds__(kProductThreads)
    multiply_rows(std::int64_t rows, const FilteredRows a, const double* __restrict__ x,
                  const Use use) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % kLanesOfRow);
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x) * kProductThreads + threadIdx.x) / kLanesOfRow *
      kRowsOfLanes;
  std::int32_t at[kRowsOfLanes], end[kRowsOfLanes];
  double sums[kRowsOfLanes] = {};
#pragma unroll
  for (int r = 0; r < kRowsOfLanes; ++r) {
    const bool is_row = first + r < rows;
    at[r] = is_row ? a.row_ptr[first + r] + lane : 0;
    end[r] = is_row ? a.row_ptr[first + r + 1] : 0;
  }
  bool more = true;
  while (more) {
    std::int32_t column[kRowsOfLanes];
    double value[kRowsOfLanes], factor[kRowsOfLanes];
#pragma unroll
    for (int r = 0; r < kRowsOfLanes; ++r)
      if (at[r] < end[r]) {
        column[r] = a.column(first + r, at[r]);
        value[r] = a.values[at[r]];
      }
#pragma unroll
    for (int r = 0; r < kRowsOfLanes; ++r)
      if (at[r] < end[r]) factor[r] = x[column[r]];
    more = false;
#pragma unroll
    for (int r = 0; r < kRowsOfLanes; ++r) {
      if (at[r] < end[r]) sums[r] += value[r] * factor[r];
      at[r] += kLanesOfRow;
      more = more || at[r] < end[r];
    }
  }
  double own = 0;
#pragma unroll
  for (int r = 0; r < kRowsOfLanes; ++r) {
#pragma unroll
    for (int distance = kLanesOfRow / 2; distance > 0; distance /= 2)
      sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], distance);
    if (lane == r) own = sums[r];
  }
  if (lane < kRowsOfLanes && first + lane < rows) use(first + lane, own);
}

}  // namespace row_kernels

template <class Use>
void multiply_rows(std::int64_t rows, const FilteredRows& a, const double* x, const Use& use,
                   StreamRef stream) {
  using namespace row_kernels;
  if (rows == 0) return;
  constexpr std::int64_t kRowsOfBlock = kProductThreads / kLanesOfRow * kRowsOfLanes;
  row_kernels::multiply_rows<<<static_cast<unsigned>((rows + kRowsOfBlock - 1) / kRowsOfBlock),
                               kProductThreads, 0, stream>>>(rows, a, x, use);
  check_launch();
}

}  // namespace trireme::multigrid
