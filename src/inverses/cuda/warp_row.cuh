// SPDX-License-Identifier: BSD-3-Clause
// A row of the factor of an approximate inverse, made by a warp: growing_row.hpp on a GPU, in the
// layout of device_fsai.hpp.
#pragma once

#include <cstdint>

#include "inverses/cuda/device_fsai.hpp"
#include "inverses/row_rules.hpp"

namespace trireme::inverses {
namespace fsai_kernels {

constexpr int kMost = kMostStepsOnGpu * kEntriesPerStep;  // entries of a row beside the diagonal
static_assert(kMost < 32, "a lane has one entry");
constexpr int kStride = kMost + 1;
constexpr int kMostSlots = 1024;
constexpr int kWarps = 4;  // per block
constexpr unsigned kAll = 0xffffffffu;
constexpr std::int32_t kFree = -1;

// What keeps the host from trusting the result, or FP32 from having it.
enum Flag : unsigned { kUnfit = 1, kBeyondFp32 = 2 };

struct Matrix {
  std::int64_t rows;
  const std::int32_t* __restrict__ row_ptr;
  const std::int32_t* __restrict__ col_idx;
  const double* __restrict__ values;
  const double* __restrict__ scale;  // D^-1/2
};

// The table has kSlots slots, a power of two, of which 3/4 may be taken.
template <int kSlots>
struct Work {
  static constexpr int kMostCandidates = kSlots / 4 * 3;
  double factor[kMost * (kMost + 1) / 2];
  double sums[kSlots];
  std::int32_t keys[kSlots];
  std::int16_t taken[kMostCandidates];  // slots, in the order in which they were taken
};

// The row that a warp makes. All lanes run its functions together.
template <int kSlots>
class WarpRow {
 public:
  __device__ WarpRow(const Matrix& a, Work<kSlots>& work)
      : a_(a), work_(work), lane_(static_cast<int>(threadIdx.x % 32)) {
    for (int slot = lane_; slot < kSlots; slot += 32) work_.keys[slot] = kFree;
    __syncwarp();
  }

  __device__ void begin(std::int32_t i) {
    row_ = i;
    m_ = 0;
    d_ = 1;
    column_ = -1;
    z_ = 0;
  }
  __device__ int entries() const { return m_; }
  __device__ std::int32_t column() const { return column_; }
  __device__ double number() const { return y_ / sqrt(d_) * a_.scale[column_]; }
  __device__ double last() const { return 1 / sqrt(d_) * a_.scale[row_]; }

  // L^T y = z.
  __device__ void solve() {
    y_ = z_;
    for (int k = m_ - 1; k >= 0; --k) {
      const double yk = __shfl_sync(kAll, y_, k) / work_.factor[of(k, k)];
      if (lane_ == k) y_ = yk;
      if (lane_ < k) y_ -= work_.factor[of(k, lane_)] * yk;
    }
  }

  __device__ bool add(std::int32_t column) {
    double number = lane_ < m_ ? entry(column, column_) : 0;
    double pivot = 1;
    double right = -entry(row_, column);
    for (int k = 0; k < m_; ++k) {
      const double lk = __shfl_sync(kAll, number, k) / work_.factor[of(k, k)];
      if (lane_ == k) number = lk;
      if (lane_ > k && lane_ < m_) number -= work_.factor[of(lane_, k)] * lk;
      pivot -= lk * lk;
      right -= lk * __shfl_sync(kAll, z_, k);
    }
    if (!(pivot > kLeastPivot)) return false;
    const double root = sqrt(pivot);
    const double z = right / root;
    if (!(d_ - z * z > kLeastPivot)) return false;
    d_ -= z * z;
    __syncwarp();
    if (lane_ < m_) work_.factor[of(m_, lane_)] = number;
    if (lane_ == m_) {
      work_.factor[of(m_, m_)] = root;
      z_ = z;
      column_ = column;
    }
    ++m_;
    __syncwarp();
    return true;
  }

  // One step of growth. False: nothing has come in.
  __device__ bool grow() {
    solve();
    candidates_ = 0;
    add_to_gradient(row_, 1);
    for (int k = 0; k < m_; ++k)
      add_to_gradient(__shfl_sync(kAll, column_, k), __shfl_sync(kAll, y_, k));
    if (lane_ < m_)
      if (const int slot = find(column_); slot >= 0) work_.sums[slot] = 0;
    __syncwarp();
    const double least = kLeastGain * d_;
    std::int32_t chosen[kEntriesPerStep];
    int count = 0;
    for (; count < kEntriesPerStep; ++count) {
      chosen[count] = take_largest(least);
      if (chosen[count] < 0) break;
    }
    __syncwarp();
    for (int k = lane_; k < candidates_; k += 32) work_.keys[work_.taken[k]] = kFree;
    __syncwarp();
    bool grew = false;
    for (int k = 0; k < count; ++k) grew = add(chosen[k]) || grew;
    return grew;
  }

 private:
  __device__ static int of(int row, int column) { return row * (row + 1) / 2 + column; }
  __device__ static unsigned hash(std::int32_t column) {
    return static_cast<unsigned>(column) * 2654435761u >> 22 & (kSlots - 1);
  }

  __device__ std::int32_t lower_bound(std::int32_t row, std::int32_t column) const {
    std::int32_t low = a_.row_ptr[row], high = a_.row_ptr[row + 1];
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (a_.col_idx[middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  __device__ double scaled(std::int32_t row, std::int32_t k) const {
    return a_.values[k] * a_.scale[row] * a_.scale[a_.col_idx[k]];
  }
  // Of an entry beside the diagonal.
  __device__ double entry(std::int32_t row, std::int32_t column) const {
    const std::int32_t k = lower_bound(row, column);
    return k < a_.row_ptr[row + 1] && a_.col_idx[k] == column ? scaled(row, k) : 0;
  }

  // The slot of a column; -1: it has none.
  __device__ int find(std::int32_t column) const {
    for (unsigned slot = hash(column);; slot = (slot + 1) % kSlots) {
      if (work_.keys[slot] == column) return static_cast<int>(slot);
      if (work_.keys[slot] == kFree) return -1;
    }
  }

  __device__ void add_to_gradient(std::int32_t row, double factor) {
    const std::int32_t first = a_.row_ptr[row], end = lower_bound(row, row_);
    if (end - first <= kLongRow) {
      add_to_gradient(row, factor, first, end);
    } else {
      add_to_gradient(row, factor, first, first + kLongRow / 2);
      add_to_gradient(row, factor, end - kLongRow / 2, end);
    }
  }
  // The columns of a row differ, so that no two lanes add to one sum at a time.
  __device__ void add_to_gradient(std::int32_t row, double factor, std::int32_t first,
                                  std::int32_t end) {
    for (std::int32_t base = first; base < end; base += 32) {
      const std::int32_t k = base + lane_;
      const bool has_room = candidates_ + 32 <= Work<kSlots>::kMostCandidates;
      bool is_new = false;
      int at = -1;
      if (k < end) {
        const std::int32_t column = a_.col_idx[k];
        for (unsigned slot = hash(column);; slot = (slot + 1) % kSlots) {
          const std::int32_t key =
              has_room ? atomicCAS(&work_.keys[slot], kFree, column) : work_.keys[slot];
          is_new = has_room && key == kFree;
          if (is_new || key == column) at = static_cast<int>(slot);
          if (at >= 0 || key == kFree) break;
        }
        const double value = a_.col_idx[k] == row ? 1 : scaled(row, k);
        // A sum begins with 0, as on the host.
        if (at >= 0) work_.sums[at] = (is_new ? 0 : work_.sums[at]) + factor * value;
      }
      const unsigned all_new = __ballot_sync(kAll, is_new);
      if (is_new)
        work_.taken[candidates_ + __popc(all_new & ((1u << lane_) - 1))] =
            static_cast<std::int16_t>(at);
      candidates_ += __popc(all_new);
      __syncwarp();
    }
  }

  // The column with the largest sum, whose sum becomes 0; -1: none gains `least`. Of equal sums,
  // that of the smallest column.
  __device__ std::int32_t take_largest(double least) {
    double size = 0;
    std::int32_t column = -1;
    for (int k = lane_; k < candidates_; k += 32) {
      const int slot = work_.taken[k];
      const std::int32_t key = work_.keys[slot];
      const double own = fabs(work_.sums[slot]);
      if (own > size || (own == size && column >= 0 && key < column)) {
        size = own;
        column = key;
      }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const double other = __shfl_xor_sync(kAll, size, distance);
      const std::int32_t its = __shfl_xor_sync(kAll, column, distance);
      if (other > size || (other == size && its >= 0 && (column < 0 || its < column))) {
        size = other;
        column = its;
      }
    }
    if (column < 0 || !(size * size >= least)) return -1;
    __syncwarp();
    if (lane_ == 0) work_.sums[find(column)] = 0;
    __syncwarp();
    return column;
  }

  const Matrix& a_;
  Work<kSlots>& work_;
  int lane_;
  std::int32_t row_ = 0;
  int m_ = 0;            // entries of the pattern
  double d_ = 1;         // as in growing_row.hpp
  int candidates_ = 0;   // taken slots
  std::int32_t column_;  // of this lane's entry, as z_ and y_ are
  double z_, y_;
};

template <int kSlots>
__device__ Work<kSlots>& work_of_warp() {
  extern __shared__ double shared[];
  return reinterpret_cast<Work<kSlots>*>(shared)[threadIdx.x / 32];
}

}  // namespace fsai_kernels
}  // namespace trireme::inverses
