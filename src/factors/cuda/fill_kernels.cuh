// SPDX-License-Identifier: BSD-3-Clause
// Kernels that fill the arrays of device_sweeps.hpp.
#pragma once

#include <cstdint>

#include "factors/cuda/sweep_layout.hpp"

namespace trireme::factors {
namespace fill_kernels {

// A layout in device memory, as SweepLayout has it.
struct Layout {
  const Slice* __restrict__ slices;
  const std::int32_t* __restrict__ rows;
  const std::int32_t* __restrict__ firsts;
  const std::int32_t* __restrict__ lengths;
  std::int32_t slice_count, row_count, lower_count, count;

  __device__ __forceinline__ bool is_lower(std::int32_t position) const {
    return position < lower_count;
  }
};

__device__ __forceinline__ std::int64_t thread_of_grid() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// positions[row] for L, and positions[row_count + row] for U.
__global__ inline void invert_rows(const Layout l, std::int32_t* __restrict__ positions) {
  const std::int64_t k = thread_of_grid();
  if (k >= l.count || l.rows[k] < 0) return;
  const auto position = static_cast<std::int32_t>(k);
  positions[std::int64_t{l.is_lower(position) ? 0 : l.row_count} + l.rows[k]] = position;
}

// `order` is null where rows are those of A.
__global__ inline void make_ends(const Layout l, const std::int32_t* __restrict__ positions,
                                 const std::int32_t* __restrict__ order,
                                 std::int32_t* __restrict__ sources,
                                 std::int32_t* __restrict__ targets) {
  const std::int64_t k = thread_of_grid();
  if (k >= l.count) return;
  const std::int32_t row = l.rows[k];
  const std::int32_t of_a = row < 0 || order == nullptr ? row : order[row];
  if (l.is_lower(static_cast<std::int32_t>(k))) {
    sources[k] = of_a;
  } else {
    sources[k] = row < 0 ? kPart : positions[row];
    targets[k - l.lower_count] = of_a;
  }
}

// Calls visit(to, entry, of_parts, is_lower) for each entry that this thread has in the slices,
// where `to` is its place in the arrays. `entry` is that of the pattern; in a row of parts it is
// the position of a part; -1 stands for padding.
template <class Visit>
__device__ __forceinline__ void for_each_entry(const Layout& l, const Visit& visit) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * blockDim.x / 32;
  for (std::int64_t k = thread_of_grid() / 32; k < l.slice_count; k += warps) {
    const Slice slice = l.slices[k];
    const int row = lane >> slice.log_lanes();
    const int lanes = 1 << slice.log_lanes();
    const bool has_row = row < slice.rows(), is_lower = l.is_lower(slice.position);
    const std::int32_t first = has_row ? l.firsts[slice.position + row] : 0;
    const std::int32_t length = has_row ? l.lengths[slice.position + row] : 0;
    for (int step = 0; step < slice.steps; ++step) {
      const std::int32_t entry = step * lanes + lane % lanes;
      const std::int64_t to = (std::int64_t{slice.start} + step) * 32 + lane;
      if (entry >= length)
        visit(to, -1, false, is_lower);
      else
        visit(to, entry + (first < 0 ? -1 - first : first), first < 0, is_lower);
    }
  }
}

__global__ inline void fill_columns(const Layout l, const std::int32_t* __restrict__ positions,
                                    const std::int32_t* __restrict__ col_idx,
                                    std::int32_t* __restrict__ columns) {
  for_each_entry(l, [&](std::int64_t to, std::int32_t entry, bool of_parts, bool is_lower) {
    const std::int32_t* const of_rows = positions + (is_lower ? 0 : l.row_count);
    columns[to] = entry < 0 || of_parts ? entry : of_rows[col_idx[entry]];
  });
}

template <class Value>
__global__ void fill_values(const Layout l, const double* __restrict__ numbers,
                            Value* __restrict__ values) {
  for_each_entry(l, [&](std::int64_t to, std::int32_t entry, bool of_parts, bool) {
    const double value = entry < 0 ? 0 : of_parts ? -1 : numbers[entry];
    values[to] = static_cast<Value>(value);
  });
}

// Of positions of U.
__global__ inline void gather_inverses(const Layout l, const std::int32_t* __restrict__ diagonal,
                                       const double* __restrict__ numbers,
                                       double* __restrict__ inverses) {
  const std::int64_t k = l.lower_count + thread_of_grid();
  if (k < l.count) inverses[k - l.lower_count] = l.rows[k] >= 0 ? numbers[diagonal[l.rows[k]]] : 0;
}

}  // namespace fill_kernels
}  // namespace trireme::factors
