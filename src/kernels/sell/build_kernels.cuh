// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels of the SELL builder. One warp works on one slice, unless a comment says
// otherwise. Only build_cuda.cu includes this file.
#pragma once

#include <cstdint>

#include "kernels/numeric.cuh"
#include "kernels/sell/build_support.cuh"
#include "kernels/sell/layout.hpp"

namespace trireme::sell {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

// What the host reads back to continue the build.
struct Findings {
  unsigned long long natural_steps = 0;  // steps in the caller's order
  std::int32_t long_rows = 0;
  std::int32_t inexact = 0;            // nonzero where some value is not exact in FP32
  std::int32_t longest_in_slices = 0;  // nonzeros of the longest row that is not kept apart
  std::int32_t largest_spread = 0;     // maximum over steps of largest minus smallest column
};

struct RowsOfSlices {
  std::int32_t count;           // rows in slices
  const std::int32_t* row_ptr;  // of the caller's CSR
  const std::int32_t* order;    // null: the caller's order
  int lane_rows;

  __device__ std::int32_t caller(std::int32_t row) const { return order ? order[row] : row; }
  // Row r of this lane, 0 <= r < lane_rows.
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

// The length of the longest row of this warp's slice, returned in every lane.
__device__ std::int32_t slice_width(const RowsOfSlices& rows, std::int32_t slice) {
  std::int32_t width = 0;
  for (int r = 0; r < rows.lane_rows; ++r) width = max(width, rows.length(rows.row(slice, r)));
  return __reduce_max_sync(0xffffffffu, width);
}

// Blocks of survey_rows(). Each warp of them adds to the same numbers once.
constexpr int kSurveyBlocks = 1024;

__global__ void __launch_bounds__(kThreads)
    survey_rows(RowsOfSlices rows, std::int32_t slices, std::int32_t longest, Findings* findings) {
  unsigned long long steps = 0;
  int long_rows = 0;
  std::int32_t longest_here = 0;
  const auto warps = static_cast<std::int32_t>(gridDim.x * (kThreads / kLanes));
  for (std::int32_t slice = this_warp(); slice < slices; slice += warps) {
    steps += static_cast<unsigned long long>(slice_width(rows, slice));
    for (int r = 0; r < rows.lane_rows; ++r) {
      const std::int32_t length = rows.length(rows.row(slice, r));
      if (length > longest)
        ++long_rows;
      else
        longest_here = max(longest_here, length);
    }
  }
  long_rows = __reduce_add_sync(0xffffffffu, long_rows);
  longest_here = __reduce_max_sync(0xffffffffu, longest_here);
  if (this_lane() != 0) return;
  if (longest_here > *static_cast<volatile std::int32_t*>(&findings->longest_in_slices))
    atomicMax(&findings->longest_in_slices, longest_here);
  atomicAdd(&findings->natural_steps, steps);
  if (long_rows > 0) atomicAdd(&findings->long_rows, long_rows);
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

constexpr int kBatch = 8;  // numbers that a lane reads before it uses the first

// Lets 32 lanes read 32 rows with coalesced loads. A group has lanes() neighbouring lanes, a power
// of two. It takes one row at a time and up to lanes() entries of that row.
struct Groups {
  int shift;

  __device__ int lanes() const { return 1 << shift; }
  __device__ int count() const { return 32 >> shift; }
  __device__ int step() const { return this_lane() & (lanes() - 1); }
  __device__ int row() const { return this_lane() >> shift; }
};

// The groups for rows that have up to `entries` more entries.
__device__ Groups groups_for(std::int32_t entries) {
  return {entries >= 32 ? 5 : 32 - __clz(entries - 1)};
}

// 32 rows; each lane knows one of them.
struct RowsOfLanes {
  std::int32_t first, length;  // first entry and length of this lane's row in the CSR

  // Finds entry number `step` of the rows row, row + stride, .. in the CSR; -1 where there is none.
  __device__ void locate(int row, int stride, std::int32_t step,
                         std::int32_t (&entry)[kBatch]) const {
#pragma unroll
    for (int i = 0; i < kBatch; ++i, row += stride) {
      const std::int32_t row_first = __shfl_sync(0xffffffffu, first, row);
      const std::int32_t row_length = __shfl_sync(0xffffffffu, length, row);
      entry[i] = row < 32 && step < row_length ? row_first + step : -1;
    }
  }
};

__device__ RowsOfLanes rows_of_lanes(const RowsOfSlices& rows, std::int32_t row) {
  if (row >= rows.count) return {0, 0};
  const std::int32_t* begin = rows.row_ptr + rows.caller(row);
  return {begin[0], begin[1] - begin[0]};
}

__global__ void __launch_bounds__(kThreads)
    find_bases(RowsOfSlices rows, std::int32_t slices, const std::int32_t* col_idx,
               const std::int32_t* slice_ptr, std::int32_t* base, Findings* findings) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  const std::int32_t begin = slice_ptr[slice];
  const std::int32_t steps = slice_ptr[slice + 1] - begin;
  std::int32_t spread = 0;
  for (std::int32_t chunk = 0; chunk < steps; chunk += 32) {
    const Groups groups = groups_for(steps - chunk);
    const std::int32_t step = chunk + groups.step();
    std::int32_t low = 0x7fffffff, high = 0;
    for (int r = 0; r < rows.lane_rows; ++r) {
      const RowsOfLanes here = rows_of_lanes(rows, rows.row(slice, r));
      for (int row = groups.row(); row < 32; row += kBatch * groups.count()) {
        std::int32_t entry[kBatch], column[kBatch];
        here.locate(row, groups.count(), step, entry);
#pragma unroll
        for (int i = 0; i < kBatch; ++i) column[i] = entry[i] < 0 ? -1 : __ldg(col_idx + entry[i]);
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
          if (column[i] < 0) continue;
          low = min(low, column[i]);
          high = max(high, column[i]);
        }
      }
    }
    for (int other = groups.lanes(); other < 32; other *= 2) {
      low = min(low, __shfl_xor_sync(0xffffffffu, low, other));
      high = max(high, __shfl_xor_sync(0xffffffffu, high, other));
    }
    if (step >= steps) continue;
    if (groups.row() == 0) base[begin + step] = low;
    spread = max(spread, high - low);
  }
  spread = __reduce_max_sync(0xffffffffu, spread);
  if (this_lane() == 0 && spread > kLargestOffset) atomicMax(&findings->largest_spread, spread);
}

// The distance between two steps of 32 rows in shared memory. No two lanes access the same bank.
constexpr int step_pitch(int groups) { return 32 + groups; }
constexpr int transposed_size(int steps) { return steps * step_pitch(32 / steps); }

// Writes code(number of the CSR, step), or `padding`, for every stored entry of a slice. A warp
// takes 32 neighbouring numbers of each step. It reads along rows and writes along steps. In
// between it transposes up to `max_steps` steps, a power of two, of 32 rows in shared memory.
template <class Number, class T, class Code>
__device__ void fill_slices(const RowsOfSlices& rows, std::int32_t slices,
                            const std::int32_t* slice_ptr, int max_steps, const Number* numbers,
                            T* out, T padding, Code&& code) {
  extern __shared__ uint4 memory[];
  T* transposed = reinterpret_cast<T*>(memory) + threadIdx.x / 32 * transposed_size(max_steps);
  const int slice_size = kLanes * rows.lane_rows;
  const int shift = __ffs(rows.lane_rows) - 1;
  const std::int32_t slice = this_warp() >> shift;
  if (slice >= slices) return;
  // The place of this lane's numbers, which is the same in every step.
  const int position = (this_warp() & (rows.lane_rows - 1)) * 32 + this_lane();
  const int slot = (position >> shift) + (position & (rows.lane_rows - 1)) * kLanes;
  const RowsOfLanes mine = rows_of_lanes(rows, slice * slice_size + slot);
  const std::int32_t begin = slice_ptr[slice];
  const std::int32_t steps = slice_ptr[slice + 1] - begin;
  for (std::int32_t chunk = 0; chunk < steps; chunk += max_steps) {
    const std::int32_t here = min(max_steps, steps - chunk);
    const Groups groups = groups_for(here);
    const int pitch = step_pitch(groups.count());
    const std::int32_t step = chunk + groups.step();
    for (int row = groups.row(); row < 32; row += kBatch * groups.count()) {
      std::int32_t entry[kBatch];
      Sum<Number> number[kBatch];
      mine.locate(row, groups.count(), step, entry);
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        if (entry[i] >= 0) number[i] = load<Sum<Number>>(numbers + entry[i]);
      __syncwarp();  // Without it the compiler waits for one load before it issues the others.
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int at = row + i * groups.count();
        if (at < 32)
          transposed[groups.step() * pitch + at] =
              entry[i] < 0 ? padding : code(number[i], begin + step);
      }
    }
    __syncwarp();
    T* to = out + static_cast<std::int64_t>(begin + chunk) * slice_size + position;
#pragma unroll 4
    for (int s = 0; s < here; ++s) to[s * slice_size] = transposed[s * pitch + this_lane()];
    __syncwarp();
  }
}

__global__ void __launch_bounds__(kThreads)
    fill_offsets(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                 int max_steps, const std::int32_t* col_idx, const std::int32_t* base,
                 std::uint16_t* offsets) {
  fill_slices(rows, slices, slice_ptr, max_steps, col_idx, offsets, kNoOffset,
              [&](std::int32_t column, std::int32_t step) {
                return static_cast<std::uint16_t>(column - __ldg(base + step));
              });
}

__global__ void __launch_bounds__(kThreads)
    fill_columns(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                 int max_steps, const std::int32_t* col_idx, std::int32_t* columns) {
  fill_slices(rows, slices, slice_ptr, max_steps, col_idx, columns, kNoColumn,
              [](std::int32_t column, std::int32_t) { return column; });
}

// Stores the values of the slices. Sets *inexact, unless it is null, where Stored cannot hold a
// value.
template <class Value, class Stored>
__global__ void __launch_bounds__(kThreads)
    fill_slice_values(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                      int max_steps, const Value* values, Stored* stored, std::int32_t* inexact) {
  bool found = false;
  fill_slices(rows, slices, slice_ptr, max_steps, values, stored, Stored{},
              [&](Sum<Value> value, std::int32_t) {
                found |= changes<Stored>(value);
                Stored rounded;
                store(&rounded, value);
                return rounded;
              });
  if (found && inexact != nullptr) *inexact = 1;
}

__global__ void apart_lengths(std::int32_t count, const std::int32_t* rows,
                              const std::int32_t* row_ptr, std::int32_t* lengths) {
  const std::int32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i > count) return;
  lengths[i] = i < count ? row_ptr[rows[i] + 1] - row_ptr[rows[i]] : 0;
}

// Copies the entries of the `count` rows kept apart, one entry per thread, because these rows may
// have very different lengths.
template <class From, class To>
__global__ void __launch_bounds__(kThreads)
    copy_apart(std::int64_t nnz, std::int32_t count, const std::int32_t* rows,
               const std::int32_t* row_ptr, const std::int32_t* apart_row_ptr, const From* from,
               To* to, std::int32_t* inexact) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (k >= nnz) return;
  std::int32_t row = 0;  // the last row that begins at k or before
  for (std::int32_t end = count; end - row > 1;) {
    const std::int32_t middle = row + (end - row) / 2;
    (apart_row_ptr[middle] <= k ? row : end) = middle;
  }
  const Sum<From> wide = load<Sum<From>>(from + row_ptr[rows[row]] + (k - apart_row_ptr[row]));
  if (inexact != nullptr && changes<To>(wide)) *inexact = 1;
  store(to + k, wide);
}

// Stores the values of each pattern, those of its row in pattern_rows. One block per pattern.
template <class Value, class Stored>
__global__ void __launch_bounds__(kThreads)
    fill_repeated_rows(const std::int32_t* row_ptr, const std::int32_t* pattern_rows,
                       std::int32_t width, const Value* values, Stored* stored,
                       std::int32_t* inexact) {
  const std::int32_t row = pattern_rows[blockIdx.x];
  const std::int32_t begin = row < 0 ? 0 : row_ptr[row];
  const std::int32_t length = row < 0 ? 0 : row_ptr[row + 1] - begin;
  for (std::int32_t j = threadIdx.x; j < width; j += kThreads) {
    const Sum<Value> value = j < length ? load<Sum<Value>>(values + begin + j) : Sum<Value>{};
    if (inexact && changes<Stored>(value)) *inexact = 1;
    trireme::store(stored + blockIdx.x * width + j, value);
  }
}

}  // namespace
}  // namespace trireme::sell
