// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the SELL builder: a warp a slice, unless said otherwise. Included by build_cuda.cu
// alone.
#pragma once

#include <cstdint>

#include "kernels/numeric.cuh"
#include "kernels/sell/layout.hpp"

namespace trireme::sell {
namespace {

constexpr int kThreads = 256;
// A lane reads this many entries of a row before it goes to its next row: a sector of columns, two
// of values. With 4 or 2, sectors of values are read again: 1.5 and 2.4 times as long.
constexpr int kChunk = 8;

// What the host must know to go on.
struct Findings {
  unsigned long long natural_steps = 0;
  std::int32_t long_rows = 0;
  std::int32_t inexact = 0;         // some value is not exact in FP32
  std::int32_t largest_spread = 0;  // of the columns of a step
};

struct RowsOfSlices {
  std::int32_t count;           // rows in slices
  const std::int32_t* row_ptr;  // of the caller's CSR
  const std::int32_t* order;    // nullptr: the caller's order
  int lane_rows;

  __device__ std::int32_t caller(std::int32_t row) const { return order ? order[row] : row; }
  // Row r of this lane.
  __device__ std::int32_t row(std::int32_t slice, int r) const {
    return (slice * lane_rows + r) * kLanes + threadIdx.x % kLanes;
  }
  __device__ std::int32_t length(std::int32_t row) const {
    if (row >= count) return 0;
    const std::int32_t i = caller(row);
    return row_ptr[i + 1] - row_ptr[i];
  }
};

int blocks_for_warps(std::int64_t warps) {
  return static_cast<int>((warps * 32 + kThreads - 1) / kThreads);
}
int blocks_for(std::int64_t threads) {
  return static_cast<int>((threads + kThreads - 1) / kThreads);
}

__device__ std::int32_t this_warp() {
  return static_cast<std::int32_t>(
      (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32);
}
__device__ int this_lane() { return threadIdx.x % 32; }

// The longest row of this warp's slice, in every lane.
__device__ std::int32_t slice_width(const RowsOfSlices& rows, std::int32_t slice) {
  std::int32_t width = 0;
  for (int r = 0; r < rows.lane_rows; ++r) width = max(width, rows.length(rows.row(slice, r)));
  return __reduce_max_sync(0xffffffffu, width);
}

__global__ void __launch_bounds__(kThreads)
    survey_rows(RowsOfSlices rows, std::int32_t slices, std::int32_t longest, Findings* findings) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  const std::int32_t width = slice_width(rows, slice);
  int long_rows = 0;
  for (int r = 0; r < rows.lane_rows; ++r) long_rows += rows.length(rows.row(slice, r)) > longest;
  long_rows = __reduce_add_sync(0xffffffffu, long_rows);
  if (this_lane() != 0) return;
  atomicAdd(&findings->natural_steps, static_cast<unsigned long long>(width));
  if (long_rows > 0) atomicAdd(&findings->long_rows, long_rows);
}

template <class Value>
__global__ void survey_values(std::int64_t nnz, const Value* values, std::int32_t* inexact) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  bool found = false;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; k < nnz;
       k += stride)
    found = found || !(static_cast<Value>(static_cast<float>(values[k])) == values[k]);
  if (__any_sync(0xffffffffu, found) && this_lane() == 0) *inexact = 1;
}

__global__ void make_keys(std::int32_t rows, const std::int32_t* row_ptr, std::int32_t longest,
                          std::uint32_t* keys, std::int32_t* order) {
  const std::int32_t row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= rows) return;
  keys[row] = sort_key(row, row_ptr[row + 1] - row_ptr[row], longest);
  order[row] = row;
}

__global__ void __launch_bounds__(kThreads)
    find_widths(RowsOfSlices rows, std::int32_t slices, std::int32_t* widths) {
  const std::int32_t slice = this_warp();
  if (slice > slices) return;
  const std::int32_t width = slice < slices ? slice_width(rows, slice) : 0;
  if (this_lane() == 0) widths[slice] = width;
}

__global__ void __launch_bounds__(kThreads)
    find_bases(RowsOfSlices rows, std::int32_t slices, const std::int32_t* col_idx,
               const std::int32_t* slice_ptr, std::int32_t* base, Findings* findings) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  std::int32_t first[kMostLaneRows], length[kMostLaneRows];
  for (int r = 0; r < rows.lane_rows; ++r) {
    const std::int32_t row = rows.row(slice, r);
    length[r] = rows.length(row);
    first[r] = length[r] > 0 ? rows.row_ptr[rows.caller(row)] : 0;
  }
  const std::int32_t begin = slice_ptr[slice];
  const std::int32_t steps = slice_ptr[slice + 1] - begin;
  std::int32_t spread = 0;
  for (std::int32_t chunk = 0; chunk < steps; chunk += kChunk) {
    std::int32_t low[kChunk], high[kChunk];
#pragma unroll
    for (int s = 0; s < kChunk; ++s) {
      low[s] = 0x7fffffff;
      high[s] = 0;
    }
    for (int r = 0; r < rows.lane_rows; ++r)
#pragma unroll
      for (int s = 0; s < kChunk; ++s)
        if (chunk + s < length[r]) {
          const std::int32_t column = col_idx[first[r] + chunk + s];
          low[s] = min(low[s], column);
          high[s] = max(high[s], column);
        }
#pragma unroll
    for (int s = 0; s < kChunk; ++s) {
      if (chunk + s >= steps) break;  // the same for the whole warp
      low[s] = __reduce_min_sync(0xffffffffu, low[s]);
      spread =
          max(spread, static_cast<std::int32_t>(__reduce_max_sync(0xffffffffu, high[s])) - low[s]);
      if (this_lane() == 0) base[begin + chunk + s] = low[s];
    }
  }
  if (this_lane() == 0 && spread > kLargestOffset) atomicMax(&findings->largest_spread, spread);
}

// Writes value_of(entry of the CSR or -1, step) for every stored entry of this warp's slice; a lane
// stores the numbers of all its rows in a step at once.
template <int lane_rows, class T, class ValueOf>
__device__ void fill_slice(const RowsOfSlices& rows, const std::int32_t* slice_ptr,
                           std::int32_t slice, T* out, ValueOf&& value_of) {
  struct alignas(sizeof(T) * lane_rows) Pack {
    T of_row[lane_rows];
  };
  std::int32_t first[lane_rows], length[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const std::int32_t row = rows.row(slice, r);
    length[r] = rows.length(row);
    first[r] = length[r] > 0 ? rows.row_ptr[rows.caller(row)] : 0;
  }
  const std::int32_t begin = slice_ptr[slice];
  const std::int32_t steps = slice_ptr[slice + 1] - begin;
  Pack* packs = reinterpret_cast<Pack*>(out) + static_cast<std::int64_t>(begin) * kLanes;
  for (std::int32_t chunk = 0; chunk < steps; chunk += kChunk) {
    Pack pack[kChunk];
#pragma unroll
    for (int r = 0; r < lane_rows; ++r)
#pragma unroll
      for (int s = 0; s < kChunk; ++s) {
        const std::int32_t step = chunk + s;
        // A row has no entry beyond the slice's last step, nor has `base` there.
        pack[s].of_row[r] =
            value_of(step < length[r] ? first[r] + step : -1, begin + min(step, steps - 1));
      }
#pragma unroll
    for (int s = 0; s < kChunk; ++s)
      if (chunk + s < steps) packs[(chunk + s) * kLanes + this_lane()] = pack[s];
  }
}

template <int lane_rows>
__global__ void __launch_bounds__(kThreads)
    fill_offsets(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                 const std::int32_t* col_idx, const std::int32_t* base, std::uint16_t* offsets) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  fill_slice<lane_rows>(
      rows, slice_ptr, slice, offsets, [&](std::int32_t entry, std::int32_t step) {
        return entry < 0 ? kNoOffset : static_cast<std::uint16_t>(col_idx[entry] - base[step]);
      });
}

template <int lane_rows>
__global__ void __launch_bounds__(kThreads)
    fill_columns(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                 const std::int32_t* col_idx, std::int32_t* columns) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  fill_slice<lane_rows>(rows, slice_ptr, slice, columns, [&](std::int32_t entry, std::int32_t) {
    return entry < 0 ? kNoColumn : col_idx[entry];
  });
}

// Whether a value is another one as Stored.
template <class Stored, class Value>
__device__ bool changes(Value value) {
  if constexpr (std::is_same_v<Stored, float> && std::is_same_v<Value, double>)
    return !(static_cast<Value>(static_cast<Stored>(value)) == value);
  return false;
}

// Sets *inexact, unless null, where Stored cannot hold a value.
template <int lane_rows, class Value, class Stored>
__global__ void __launch_bounds__(kThreads)
    fill_slice_values(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                      const Value* values, Stored* stored, std::int32_t* inexact) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  bool found = false;
  fill_slice<lane_rows>(rows, slice_ptr, slice, stored, [&](std::int32_t entry, std::int32_t) {
    Stored value;
    const Sum<Value> wide = entry < 0 ? Sum<Value>{} : load<Sum<Value>>(values + entry);
    found = found || changes<Stored>(wide);
    store(&value, wide);
    return value;
  });
  if (found && inexact != nullptr) *inexact = 1;
}

__global__ void apart_lengths(std::int32_t count, const std::int32_t* rows,
                              const std::int32_t* row_ptr, std::int32_t* lengths) {
  const std::int32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i > count) return;
  lengths[i] = i < count ? row_ptr[rows[i] + 1] - row_ptr[rows[i]] : 0;
}

// A warp a row kept apart.
template <class From, class To>
__global__ void copy_apart(std::int32_t count, const std::int32_t* rows,
                           const std::int32_t* row_ptr, const std::int32_t* apart_row_ptr,
                           const From* from, To* to, std::int32_t* inexact) {
  const std::int32_t i = this_warp();
  if (i >= count) return;
  const std::int32_t source = row_ptr[rows[i]];
  const std::int32_t target = apart_row_ptr[i];
  const std::int32_t length = apart_row_ptr[i + 1] - target;
  bool found = false;
  for (std::int32_t k = this_lane(); k < length; k += 32) {
    const Sum<From> wide = load<Sum<From>>(from + source + k);
    found = found || changes<To>(wide);
    store(to + target + k, wide);
  }
  if (found && inexact != nullptr) *inexact = 1;
}

}  // namespace
}  // namespace trireme::sell
