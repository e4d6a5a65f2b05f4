// SPDX-License-Identifier: BSD-3-Clause
// The kernels of device_numbers.hpp. They are compiled without contractions of a multiplication and
// an addition, and change each entry in the order of numbers.cpp.
//
// A row of the elimination belongs to a warp, which waits for the single numbers of the rows of U
// that it needs. The pattern says where they are before they are there.
#pragma once

#include <cstdint>

#include "factors/cuda/arriving.cuh"
#include "factors/rules.hpp"
#include "solvers/fp32_range.hpp"

namespace trireme::factors {
namespace number_kernels {

constexpr int kWarps = 4;                // per block
constexpr std::int32_t kShortRow = 256;  // entries of a row that fits into shared memory
constexpr unsigned kAll = 0xffffffffu;

struct Pattern {
  std::int32_t rows;
  const std::int32_t* __restrict__ row_ptr;
  const std::int32_t* __restrict__ col_idx;
  const std::int32_t* __restrict__ diagonal;
  const std::int32_t* __restrict__ by_level;
};

// What the kernels count, in device memory.
struct Counts {
  std::uint32_t taken = 0;  // rows, of those in by_level
  std::uint32_t replaced = 0;
  std::uint32_t spoiling = 0;  // of them, those that are more than rounding at the end of a row
  std::uint32_t beyond_fp32 = 0;
};

__device__ __forceinline__ int lane_of_thread() { return static_cast<int>(threadIdx.x % 32); }
__device__ __forceinline__ std::int64_t warp_of_thread() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
}
__device__ __forceinline__ std::int64_t warps_of_grid() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x / 32;
}

// The first of the ascending columns [low, high) that is not below `column`.
__device__ __forceinline__ std::int32_t lower_bound(const std::int32_t* columns, std::int32_t low,
                                                    std::int32_t high, std::int32_t column) {
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Adds the entries of A to those of the pattern, which are 0. A warp has a row. Equal columns add
// up in the order of the entries: where two of 32 entries have the same place, one lane after the
// other adds.
__global__ inline void add_entries(std::int64_t rows, const std::int32_t* __restrict__ row_ptr,
                                   const double* __restrict__ a,
                                   const std::int32_t* __restrict__ place, double* sums) {
  const int lane = lane_of_thread();
  for (std::int64_t i = warp_of_thread(); i < rows; i += warps_of_grid()) {
    const std::int32_t last = row_ptr[i + 1];
    for (std::int32_t base = row_ptr[i]; base < last; base += 32) {
      const bool has_entry = base + lane < last;
      const std::int32_t to = has_entry ? place[base + lane] : -1 - lane;
      const double value = has_entry ? a[base + lane] : 0;
      const bool alone = __match_any_sync(kAll, to) == 1u << lane;
      if (__all_sync(kAll, alone)) {
        if (has_entry) sums[to] += value;
      } else {
        for (int turn = 0; turn < 32; ++turn) {
          if (turn == lane && has_entry) sums[to] += value;
          __syncwarp();
        }
      }
      __syncwarp();
    }
  }
}

// The magnitude of the largest entry of each row; NaN is none.
__global__ inline void find_largest(const Pattern p, const double* __restrict__ values,
                                    double* __restrict__ largest) {
  for (std::int64_t i = warp_of_thread(); i < p.rows; i += warps_of_grid()) {
    double most = 0;
    for (std::int32_t e = p.row_ptr[i] + lane_of_thread(); e < p.row_ptr[i + 1]; e += 32)
      most = fmax(most, fabs(values[e]));
    for (int distance = 16; distance > 0; distance /= 2)
      most = fmax(most, __shfl_xor_sync(kAll, most, distance));
    if (lane_of_thread() == 0) largest[i] = most;
  }
}

// A row on its way from A to L, D^-1 and U.
struct Row {
  std::int32_t length, diagonal;  // entries, and which of them is the diagonal
  const std::int32_t* columns;    // in shared memory where the row is short
  double* values;
};

// The first 32 entries of row k of U, and 1 / pivot, as a first look has found them.
struct Ahead {
  std::int32_t column;  // of this lane's entry; -1: it has none
  double value, inverse;
};

__device__ __forceinline__ Ahead look_ahead(const Pattern& p, const double* done,
                                            std::int32_t diagonal, std::int32_t to) {
  const std::int32_t e = diagonal + 1 + lane_of_thread();
  Ahead seen{-1, 0, look_at(done + diagonal)};
  if (e < to) {
    seen.column = p.col_idx[e];
    seen.value = look_at(done + e);
  }
  return seen;
}

// Subtracts the multiple of row k of U, whose entries are [from, to), that makes entry e 0.
__device__ __forceinline__ void subtract(const Pattern& p, const Row& row, std::int32_t e,
                                         std::int32_t from, std::int32_t to, const Ahead& seen,
                                         const double* done) {
  const int lane = lane_of_thread();
  const double factor = row.values[e];
  const auto subtract_at = [&](std::int32_t mine, std::int32_t other, double value) {
    row.values[mine] -= factor * wait_for(done + other, value);
  };
  // A long row is searched for the few columns of a short one.
  if (to - from > 8 * (row.length - e)) {
    for (std::int32_t mine = e + 1 + lane; mine < row.length; mine += 32) {
      const std::int32_t column = row.columns[mine];
      const std::int32_t other = lower_bound(p.col_idx, from, to, column);
      if (other < to && p.col_idx[other] == column) subtract_at(mine, other, look_at(done + other));
    }
  } else {
    for (std::int32_t other = from + lane; other < to; other += 32) {
      const bool first = other == from + lane;
      const std::int32_t column = first ? seen.column : p.col_idx[other];
      const std::int32_t mine = lower_bound(row.columns, e + 1, row.length, column);
      if (mine < row.length && row.columns[mine] == column)
        subtract_at(mine, other, first ? seen.value : look_at(done + other));
    }
  }
}

// Entries to the left of the diagonal, in ascending order. Each lane knows where row k of one of 32
// entries lies, and the row of the next entry is looked at before it is needed.
__device__ inline void eliminate_row(const Pattern& p, const Row& row, const double* done) {
  const int lane = lane_of_thread();
  for (std::int32_t base = 0; base < row.diagonal; base += 32) {
    const bool has_entry = base + lane < row.diagonal;
    const std::int32_t k = has_entry ? row.columns[base + lane] : 0;
    const std::int32_t diagonals = has_entry ? p.diagonal[k] : 0;
    const std::int32_t ends = has_entry ? p.row_ptr[k + 1] : 0;
    const int count = min(32, row.diagonal - base);
    std::int32_t diagonal = __shfl_sync(kAll, diagonals, 0), to = __shfl_sync(kAll, ends, 0);
    Ahead seen = look_ahead(p, done, diagonal, to);
    for (int t = 0; t < count; ++t) {
      const std::int32_t next = __shfl_sync(kAll, diagonals, t + 1);
      const std::int32_t next_to = __shfl_sync(kAll, ends, t + 1);
      Ahead next_seen{-1, 0, 0};
      if (t + 1 < count) next_seen = look_ahead(p, done, next, next_to);
      subtract(p, row, base + t, diagonal + 1, to, seen, done);
      const double inverse = wait_for(done + diagonal, seen.inverse);
      __syncwarp();
      if (lane == 0) row.values[base + t] *= inverse;
      diagonal = next;
      to = next_to;
      seen = next_seen;
    }
  }
  __syncwarp();
}

// One warp per row, in the order of levels: a row waits only for rows that warps have taken before
// it. `done`, which is missing before, gets the numbers; `long_rows` has room for all entries where
// a row is long.
__global__ inline void __launch_bounds__(kWarps * 32)
    eliminate(const Pattern p, int rows_at_once, const double* __restrict__ of_a,
              const double* __restrict__ largest, double shift, bool definite, double* long_rows,
              double* done, Counts* counts) {
  __shared__ double values[kWarps][kShortRow];
  __shared__ std::int32_t columns[kWarps][kShortRow];
  const int lane = lane_of_thread(), warp = static_cast<int>(threadIdx.x / 32);
  std::int32_t at = 0, end = 0;
  for (;; ++at) {
    if (at >= end) {
      std::uint32_t taken = 0;
      if (lane == 0) taken = atomicAdd(&counts->taken, static_cast<std::uint32_t>(rows_at_once));
      taken = __shfl_sync(kAll, taken, 0);
      if (taken >= static_cast<std::uint32_t>(p.rows)) return;
      at = static_cast<std::int32_t>(taken);
      end = min(p.rows - at, rows_at_once) + at;
    }
    const std::int32_t i = p.by_level[at];
    const std::int32_t first = p.row_ptr[i];
    Row row{p.row_ptr[i + 1] - first, p.diagonal[i] - first, p.col_idx + first, long_rows + first};
    const bool is_short = row.length <= kShortRow;
    if (is_short) row.values = values[warp];
    for (std::int32_t e = lane; e < row.length; e += 32) {
      double value = of_a[first + e];
      if (e == row.diagonal && shift > 0) value += shift * fabs(value);
      row.values[e] = value;
      if (is_short) columns[warp][e] = row.columns[e];
    }
    if (is_short) row.columns = columns[warp];
    __syncwarp();
    eliminate_row(p, row, done);
    double pivot = row.values[row.diagonal];
    const bool has_size = serves(pivot, largest[i]), is_negative = has_size && pivot < 0;
    const bool good = has_size && !(definite && is_negative);
    if (!good) pivot = pivot_instead(definite ? 1.0 : pivot, largest[i]);
    const double inverse = 1 / pivot;
    for (std::int32_t e = lane; e < row.length; e += 32) {
      double value = row.values[e];
      if (e == row.diagonal) value = inverse;
      if (e > row.diagonal) value *= inverse;
      send(done + first + e, value);
    }
    if (!good && lane == 0) {
      atomicAdd(&counts->replaced, 1u);
      if (row.diagonal + 1 < row.length || is_negative) atomicAdd(&counts->spoiling, 1u);
    }
    __syncwarp();
  }
}

// Entry (i, j) of U becomes entry (j, i) of L, up to the first one that L does not have.
__global__ inline void mirror(const Pattern p, double* values) {
  const int lane = lane_of_thread();
  for (std::int64_t i = warp_of_thread(); i < p.rows; i += warps_of_grid()) {
    const std::int32_t last = p.row_ptr[i + 1];
    for (std::int32_t base = p.diagonal[i] + 1; base < last; base += 32) {
      const std::int32_t e = base + lane;
      std::int32_t from = -1;
      if (e < last) {
        const std::int32_t j = p.col_idx[e], end = p.diagonal[j];
        const std::int32_t found =
            lower_bound(p.col_idx, p.row_ptr[j], end, static_cast<std::int32_t>(i));
        if (found < end && p.col_idx[found] == i) from = found;
      }
      const unsigned without = __ballot_sync(kAll, from < 0);
      const int count = without == 0 ? 32 : __ffs(static_cast<int>(without)) - 1;
      if (lane < count) values[e] = values[from];
      if (count < 32) break;
    }
  }
}

__global__ inline void check_range(const Pattern p, const double* __restrict__ values,
                                   Counts* counts) {
  bool beyond = false;
  for (std::int64_t i = warp_of_thread(); i < p.rows; i += warps_of_grid())
    for (std::int32_t e = p.row_ptr[i] + lane_of_thread(); e < p.row_ptr[i + 1]; e += 32)
      beyond = beyond || (e != p.diagonal[i] && !is_normal_in_fp32(values[e]));
  if (__any_sync(kAll, beyond) && lane_of_thread() == 0) counts->beyond_fp32 = 1;
}

}  // namespace number_kernels

}  // namespace trireme::factors
