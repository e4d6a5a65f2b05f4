// SPDX-License-Identifier: BSD-3-Clause
// Matrix entries with their coordinates in device memory (coordinates.hpp draws them), their build
// and their product. The executors coo and hyb use them.
//
// One warp multiplies one segment of consecutive entries, 32 at a time: a segmented scan by rows
// over its lanes, after Bell and Garland, SC 2009, section 4.4. The last lane hands its sum on to
// the next 32 entries. The warp adds the sum of a row that begins in its segment to y, and stores
// its share of a row that began earlier as its carry. A second launch adds the carries of each row
// to y.
//
// Bytes moved per nonzero: 16 (double) or 12 (float). The result is deterministic: segments, scans
// and the sum of the carries have a fixed order, and no atomics are used.
#pragma once

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/numeric.cuh"

namespace trireme::coordinates {

inline constexpr int kThreads = 256;
inline constexpr int kSegment = 256;  // entries per warp

// The number of blocks for one thread per item, or for one warp per item.
inline int blocks_for(std::int64_t items) {
  return static_cast<int>((items + kThreads - 1) / kThreads);
}
inline int blocks_for_warps(std::int64_t items) {
  return static_cast<int>((items + kThreads / 32 - 1) / (kThreads / 32));
}

namespace detail {

// The number of entries of each row after its first `skipped` ones; 0 for the element after the
// last row.
static __global__ void count_entries(std::int64_t rows, const std::int32_t* row_ptr,
                                     std::int64_t skipped, std::int32_t* counts) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (row > rows) return;
  const std::int64_t left = row < rows ? row_ptr[row + 1] - row_ptr[row] - skipped : 0;
  counts[row] = static_cast<std::int32_t>(left > 0 ? left : 0);
}

// The row of an entry: the last one whose first entry is not after it.
static __device__ std::int32_t row_of(std::int64_t entry, std::int64_t rows,
                                      const std::int32_t* first) {
  std::int64_t low = 0, high = rows;  // first[low] <= entry < first[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (first[middle] <= entry)
      low = middle;
    else
      high = middle;
  }
  return static_cast<std::int32_t>(low);
}

template <class Value>
__global__ void write_entries(std::int64_t entries, std::int64_t rows, const std::int32_t* first,
                              const std::int32_t* row_ptr, std::int64_t skipped,
                              const std::int32_t* col_idx, const Value* values,
                              std::int32_t* entry_rows, std::int32_t* cols, Value* vals) {
  const std::int64_t entry = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (entry >= entries) return;
  const std::int32_t row = row_of(entry, rows, first);
  const std::int64_t k = row_ptr[row] + skipped + (entry - first[row]);
  entry_rows[entry] = row;
  cols[entry] = col_idx[k];
  vals[entry] = values[k];
}

template <class Value>
__global__ void write_values(std::int64_t entries, const std::int32_t* entry_rows,
                             const std::int32_t* first, const std::int32_t* row_ptr,
                             std::int64_t skipped, const Value* values, Value* vals) {
  const std::int64_t entry = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (entry >= entries) return;
  const std::int32_t row = entry_rows[entry];
  vals[entry] = values[row_ptr[row] + skipped + (entry - first[row])];
}

// The sum of the lanes up to this one that have its row. Rows ascend with the lanes.
template <class Number>
__device__ __forceinline__ Number scan_by_rows(std::int32_t row, Number value, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::int32_t other_row = __shfl_up_sync(kFullWarp, row, distance);
    const Number other = __shfl_up_sync(kFullWarp, value, distance);
    if (lane >= distance && other_row == row) value += other;
  }
  return value;
}

template <class Value>
__global__ void __launch_bounds__(kThreads)
    add_segments(std::int64_t entries, const std::int32_t* __restrict__ rows,
                 const std::int32_t* __restrict__ cols, const Value* __restrict__ vals,
                 const Value* __restrict__ x, Value* __restrict__ y, Value* __restrict__ carries) {
  constexpr std::int32_t kNoRow = -1;
  constexpr std::int32_t kBeyond = 0x7fffffff;  // the row of lanes after the last entry
  const int lane = threadIdx.x % 32;
  const std::int64_t segment =
      (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32;
  const std::int64_t begin = segment * kSegment;
  if (begin >= entries) return;  // all lanes of the warp
  const std::int64_t end = begin + kSegment < entries ? begin + kSegment : entries;
  const std::int32_t cut_row = begin > 0 ? rows[begin - 1] : kNoRow;

  // Adds the sum of a row that ends here, or that the segment cuts.
  const auto add = [&](std::int32_t row, Value sum) {
    if (row == cut_row)
      carries[segment] = sum;
    else
      y[row] += sum;
  };
  if (lane == 0) carries[segment] = Value{};
  __syncwarp();

  std::int32_t open_row = kNoRow;  // the row of the last lane of the 32 entries before
  Value open_sum{};
  for (std::int64_t base = begin; base < end; base += 32) {
    const std::int64_t k = base + lane;
    const bool entry = k < end;
    const std::int32_t row = entry ? load<std::int32_t>(rows + k) : kBeyond;
    Value sum =
        entry ? load_once<Value>(vals + k) * load<Value>(x + load_once<std::int32_t>(cols + k))
              : Value{};
    const std::int32_t first_row = __shfl_sync(kFullWarp, row, 0);
    if (lane == 0) {
      if (open_row == first_row)
        sum += open_sum;
      else if (open_row != kNoRow)
        add(open_row, open_sum);
    }
    sum = scan_by_rows(row, sum, lane);
    const std::int32_t next_row = __shfl_down_sync(kFullWarp, row, 1);
    if (lane < 31 && entry && next_row != row) add(row, sum);
    open_row = __shfl_sync(kFullWarp, row, 31);
    open_sum = __shfl_sync(kFullWarp, sum, 31);
    if (open_row == kBeyond) open_row = kNoRow;  // the sums of all rows have been added
  }
  if (lane == 0 && open_row != kNoRow) add(open_row, open_sum);
}

// One warp per segment. The first segment with a carry of a row adds all carries of that row.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    add_carries(std::int64_t segments, const std::int32_t* __restrict__ rows,
                const Value* __restrict__ carries, Value* __restrict__ y) {
  const int lane = threadIdx.x % 32;
  const std::int64_t segment =
      (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32;
  if (segment == 0 || segment >= segments) return;
  const auto cut = [&](std::int64_t s) { return rows[s * kSegment] == rows[s * kSegment - 1]; };
  const std::int32_t row = rows[segment * kSegment];
  if (!cut(segment)) return;
  if (segment > 1 && rows[(segment - 1) * kSegment] == row && cut(segment - 1)) return;
  Value sum{};
  for (std::int64_t s = segment + lane; s < segments && rows[s * kSegment] == row; s += 32)
    sum += carries[s];
  sum = warp_sum(sum);
  if (lane == 0) y[row] += sum;
}

}  // namespace detail

// Owns the entries of each row after its first `skipped` ones. The matrix must outlive the object.
template <class Value>
class DeviceCoordinates {
 public:
  DeviceCoordinates() = default;
  DeviceCoordinates(const DeviceCsr<Value>& a, std::int64_t skipped, StreamRef stream)
      : a_(a), skipped_(skipped) {
    if (a.rows == 0) return;
    first_ = DeviceBuffer<std::int32_t>(a.rows + 1, stream);
    {
      const ScratchBuffer<std::int32_t> counts(a.rows + 1, stream);
      detail::count_entries<<<blocks_for(a.rows + 1), kThreads, 0, stream>>>(
          a.rows, a.row_ptr.data(), skipped, counts.data());
      check_launch();
      exclusive_sum(counts.view(), first_.span(), stream);
    }
    entries_ = read_back(first_.data() + a.rows, stream);
    if (entries_ == 0) return;
    rows_ = DeviceBuffer<std::int32_t>(entries_, stream);
    cols_ = DeviceBuffer<std::int32_t>(entries_, stream);
    vals_ = DeviceBuffer<Value>(entries_, stream);
    carries_ = DeviceBuffer<Value>(segments(), stream);
    detail::write_entries<<<blocks_for(entries_), kThreads, 0, stream>>>(
        entries_, a.rows, first_.data(), a.row_ptr.data(), skipped, a.col_idx.data(),
        a.values.data(), rows_.data(), cols_.data(), vals_.data());
    check_launch();
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) {
    if (entries_ == 0) return;
    detail::write_values<<<blocks_for(entries_), kThreads, 0, stream>>>(
        entries_, rows_.data(), first_.data(), a_.row_ptr.data(), skipped_, values.data(),
        vals_.data());
    check_launch();
  }

  // y += A x.
  void add_product(DeviceSpan<const Value> x, DeviceSpan<Value> y, StreamRef stream) {
    if (entries_ == 0) return;
    detail::add_segments<<<blocks_for_warps(segments()), kThreads, 0, stream>>>(
        entries_, rows_.data(), cols_.data(), vals_.data(), x.data(), y.data(), carries_.data());
    check_launch();
    if (segments() < 2) return;
    detail::add_carries<<<blocks_for_warps(segments()), kThreads, 0, stream>>>(
        segments(), rows_.data(), carries_.data(), y.data());
    check_launch();
  }

  std::int64_t entries() const { return entries_; }
  std::int64_t bytes() const {
    return entries_ * static_cast<std::int64_t>(sizeof(Value) + 2 * sizeof(std::int32_t));
  }

 private:
  std::int64_t segments() const { return (entries_ + kSegment - 1) / kSegment; }

  DeviceCsr<Value> a_;
  std::int64_t skipped_ = 0, entries_ = 0;
  DeviceBuffer<std::int32_t> first_;  // rows + 1: the first entry of each row; for update_values()
  DeviceBuffer<std::int32_t> rows_, cols_;
  DeviceBuffer<Value> vals_, carries_;
};

}  // namespace trireme::coordinates
