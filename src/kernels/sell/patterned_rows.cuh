// SPDX-License-Identifier: BSD-3-Clause
// The columns of rows that have patterns (layout.hpp): the caller's row plus the differences of the
// row's pattern. All rows of a matrix have few patterns, so that the L1 cache holds the
// differences.
#pragma once

#include <cstdint>

#include "kernels/sell/slices.cuh"

namespace trireme::sell {

// The patterns of this lane's rows in a slice; past the last slice those of rows without entries.
template <int lane_rows, class Stored>
__device__ __forceinline__ Pack<lane_rows, PatternId> load_patterns(
    const Slices<Stored, PatternId>& a, std::int32_t slice) {
  if (slice >= a.count) return {};
  return load_pack<lane_rows>(
      a.columns + (static_cast<std::int64_t>(slice) * kLanes + threadIdx.x % kLanes) * lane_rows);
}

// The columns of one lane in one step.
template <int lane_rows>
struct PatternedColumns {
  std::int32_t row[lane_rows], difference[lane_rows];

  __device__ bool has(int r) const { return difference[r] != kNoDifference; }
  __device__ std::int32_t of(int r) const { return row[r] + difference[r]; }
};

// The rows of this lane in one slice. The differences of `steps` steps, a multiple of 4, are in
// registers at a time.
template <int lane_rows, int steps>
class PatternedRows {
 public:
  // rows[r] is the caller's row of row r.
  template <class Stored>
  __device__ __forceinline__ void begin(const Slices<Stored, PatternId>& a,
                                        const Pack<lane_rows, PatternId>& patterns,
                                        const std::int32_t (&rows)[lane_rows]) {
    differences_ = a.differences;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      row_[r] = rows[r];
      next_[r] = static_cast<std::int32_t>(patterns.of_row[r]) * a.pattern_width;
    }
  }
  // Goes to the next `steps` steps. A pattern has no fewer: its width is a multiple of `steps`.
  __device__ __forceinline__ void next() {
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
#pragma unroll
      for (int s = 0; s < steps; s += 4) {
        const int4 four = __ldg(reinterpret_cast<const int4*>(differences_ + next_[r] + s));
        loaded_[s][r] = four.x, loaded_[s + 1][r] = four.y;
        loaded_[s + 2][r] = four.z, loaded_[s + 3][r] = four.w;
      }
      next_[r] += steps;
    }
  }
  __device__ __forceinline__ PatternedColumns<lane_rows> columns(int s) const {
    PatternedColumns<lane_rows> columns;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r)
      columns.row[r] = row_[r], columns.difference[r] = loaded_[s][r];
    return columns;
  }

 private:
  const std::int32_t* differences_;
  std::int32_t row_[lane_rows], next_[lane_rows];
  std::int32_t loaded_[steps][lane_rows];
};

// Where rows have no patterns.
template <int steps>
class PatternedRows<0, steps> {};

}  // namespace trireme::sell
