// SPDX-License-Identifier: BSD-3-Clause
// A row of the factor of an approximate inverse, made by a group of lanes: growing_row.hpp on a
// GPU, in the layout of device_fsai.hpp.
#pragma once

#include <cstdint>

#include "inverses/cuda/device_fsai.hpp"
#include "inverses/row_rules.hpp"

namespace trireme::inverses {
namespace fsai_kernels {

constexpr int kThreadsOfRows = 128;  // per block
constexpr int kMostSlots = 1024;
constexpr int kNoTable = 4;  // slots where no pattern grows
// Steps of a row that so many lanes make, one entry per lane and the diagonal.
constexpr int most_steps(int lanes) { return (lanes - 1) / kEntriesPerStep; }
static_assert(most_steps(32) == kMostStepsOnGpu);
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
template <int kLanes, int kSlots>
struct Work {
  static constexpr int kMostCandidates = kSlots / 4 * 3;
  static constexpr int kMost = most_steps(kLanes) * kEntriesPerStep;
  double factor[kMost * (kMost + 1) / 2];  // with 1/L(k, k) for L(k, k)
  double sums[kSlots];
  std::int32_t keys[kSlots];
  std::int16_t taken[kMostCandidates];  // slots, in the order in which they were taken
};

// The row that kLanes neighbouring lanes of a warp make, which run its functions together.
template <int kLanes, int kSlots>
class RowOfLanes {
 public:
  __device__ RowOfLanes(const Matrix& a, Work<kLanes, kSlots>& work)
      : a_(a),
        work_(work),
        lane_(static_cast<int>(threadIdx.x % kLanes)),
        first_(static_cast<int>(threadIdx.x % 32) - lane_),
        mask_(kLanes == 32 ? 0xffffffffu : ((1u << kLanes % 32) - 1) << first_) {
    for (int slot = lane_; slot < kSlots; slot += kLanes) work_.keys[slot] = kFree;
    sync();
  }

  __device__ void begin(std::int32_t i) {
    row_ = i;
    m_ = 0;
    d_ = 1;
    column_ = -1;
    z_ = 0;
  }
  __device__ int lane() const { return lane_; }
  __device__ bool is_last_lane() const { return lane_ == kLanes - 1; }
  __device__ void sync() const { __syncwarp(mask_); }
  template <class T>
  __device__ T from_lane(T value, int lane) const {
    return __shfl_sync(mask_, value, lane, kLanes);
  }
  __device__ bool in_all(bool holds) const { return __all_sync(mask_, holds); }

  __device__ int entries() const { return m_; }
  __device__ std::int32_t column() const { return column_; }
  __device__ double number() const { return y_ / sqrt(d_) * a_.scale[column_]; }
  __device__ double last() const { return 1 / sqrt(d_) * a_.scale[row_]; }

  // L^T y = z.
  __device__ void solve() {
    y_ = z_;
    for (int k = m_ - 1; k >= 0; --k) {
      const double yk = from_lane(y_, k) * work_.factor[of(k, k)];
      if (lane_ == k) y_ = yk;
      if (lane_ < k) y_ -= work_.factor[of(k, lane_)] * yk;
    }
  }

  __device__ bool add(std::int32_t column) {
    double number = lane_ < m_ ? entry(column, column_) : 0;
    double pivot = 1;
    double right = -entry(row_, column);
    for (int k = 0; k < m_; ++k) {
      const double lk = from_lane(number, k) * work_.factor[of(k, k)];
      if (lane_ == k) number = lk;
      if (lane_ > k && lane_ < m_) number -= work_.factor[of(lane_, k)] * lk;
      pivot -= lk * lk;
      right -= lk * from_lane(z_, k);
    }
    if (!(pivot > kLeastPivot)) return false;
    const double inverse_root = 1 / sqrt(pivot);
    const double z = right * inverse_root;
    if (!(d_ - z * z > kLeastPivot)) return false;
    d_ -= z * z;
    sync();
    if (lane_ < m_) work_.factor[of(m_, lane_)] = number;
    if (lane_ == m_) {
      work_.factor[of(m_, m_)] = inverse_root;
      z_ = z;
      column_ = column;
    }
    ++m_;
    sync();
    return true;
  }

  // One step of growth. False: nothing has come in.
  __device__ bool grow() {
    solve();
    candidates_ = 0;
    add_to_gradient(row_, 1);
    for (int k = 0; k < m_; ++k) add_to_gradient(from_lane(column_, k), from_lane(y_, k));
    if (lane_ < m_)
      if (const int slot = find(column_); slot >= 0) work_.sums[slot] = 0;
    sync();
    const double least = kLeastGain * d_;
    std::int32_t chosen[kEntriesPerStep];
    int count = 0;
    for (; count < kEntriesPerStep; ++count) {
      chosen[count] = take_largest(least);
      if (chosen[count] < 0) break;
    }
    sync();
    for (int k = lane_; k < candidates_; k += kLanes) work_.keys[work_.taken[k]] = kFree;
    sync();
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
    for (std::int32_t base = first; base < end; base += kLanes) {
      const std::int32_t k = base + lane_;
      const bool has_room = candidates_ + kLanes <= Work<kLanes, kSlots>::kMostCandidates;
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
      const unsigned all_new = __ballot_sync(mask_, is_new) >> first_;
      if (is_new)
        work_.taken[candidates_ + __popc(all_new & ((1u << lane_) - 1))] =
            static_cast<std::int16_t>(at);
      candidates_ += __popc(all_new);
      sync();
    }
  }

  // The column with the largest sum, whose sum becomes 0; -1: none gains `least`. Of equal sums,
  // that of the smallest column.
  __device__ std::int32_t take_largest(double least) {
    double size = 0;
    std::int32_t column = -1;
    for (int k = lane_; k < candidates_; k += kLanes) {
      const int slot = work_.taken[k];
      const std::int32_t key = work_.keys[slot];
      const double own = fabs(work_.sums[slot]);
      if (own > size || (own == size && column >= 0 && key < column)) {
        size = own;
        column = key;
      }
    }
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      const double other = __shfl_xor_sync(mask_, size, distance);
      const std::int32_t its = __shfl_xor_sync(mask_, column, distance);
      if (other > size || (other == size && its >= 0 && (column < 0 || its < column))) {
        size = other;
        column = its;
      }
    }
    if (column < 0 || !(size * size >= least)) return -1;
    sync();
    if (lane_ == 0) work_.sums[find(column)] = 0;
    sync();
    return column;
  }

  const Matrix& a_;
  Work<kLanes, kSlots>& work_;
  int lane_, first_;  // in the group, and the first one of the group in its warp
  unsigned mask_;     // the lanes of the group
  std::int32_t row_ = 0;
  int m_ = 0;            // entries of the pattern
  double d_ = 1;         // as in growing_row.hpp
  int candidates_ = 0;   // taken slots
  std::int32_t column_;  // of this lane's entry, as z_ and y_ are
  double z_, y_;
};

template <int kLanes, int kSlots>
__device__ Work<kLanes, kSlots>& work_of_group() {
  extern __shared__ double shared[];
  return reinterpret_cast<Work<kLanes, kSlots>*>(shared)[threadIdx.x / kLanes];
}

}  // namespace fsai_kernels
}  // namespace trireme::inverses
