// SPDX-License-Identifier: BSD-3-Clause
// Padded rows in device memory (padded_rows.hpp draws them), their build and their product. The
// executors ell and hyb use them.
//
// One thread sums one row, as in Bell and Garland, SC 2009, section 4.3: the threads of a warp read
// consecutive entries of a stored column. A thread ends at the first mark of padding of its row.
//
// Bytes moved per stored entry: 12 (double) or 8 (float). The result is deterministic: each row is
// summed in storage order.
#pragma once

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/numeric.cuh"
#include "kernels/peers/padded_rows.hpp"

namespace trireme::padded {

inline constexpr int kThreads = 256;

inline int blocks_for(std::int64_t rows) {
  return static_cast<int>((rows + kThreads - 1) / kThreads);
}

namespace detail {

// Writes the columns, unless `cols` is null, and the values of the first `width` entries of each
// row.
template <class Value>
__global__ void write_rows(std::int64_t rows, std::int64_t width, const std::int32_t* row_ptr,
                           const std::int32_t* col_idx, const Value* values, std::int32_t* cols,
                           Value* vals) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (row >= rows) return;
  const std::int64_t begin = row_ptr[row], end = row_ptr[row + 1];
  for (std::int64_t j = 0; j < width; ++j) {
    const bool entry = begin + j < end;
    if (cols != nullptr) cols[j * rows + row] = entry ? col_idx[begin + j] : kNoColumn;
    vals[j * rows + row] = entry ? values[begin + j] : Value{};
  }
}

template <class Value>
__global__ void __launch_bounds__(kThreads)
    multiply_rows(std::int64_t rows, std::int64_t width, const std::int32_t* __restrict__ cols,
                  const Value* __restrict__ vals, const Value* __restrict__ x,
                  Value* __restrict__ y, bool add) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (row >= rows) return;
  Value sum{};
  for (std::int64_t j = 0; j < width; ++j) {
    const std::int32_t column = load_once<std::int32_t>(cols + j * rows + row);
    if (column == kNoColumn) break;
    sum += load_once<Value>(vals + j * rows + row) * load<Value>(x + column);
  }
  store_or_add(y + row, sum, add);
}

}  // namespace detail

// Owns the first `width` entries of each row. The matrix must outlive the object.
template <class Value>
class DevicePaddedRows {
 public:
  DevicePaddedRows() = default;
  DevicePaddedRows(const DeviceCsr<Value>& a, std::int64_t width, StreamRef stream)
      : a_(a), width_(width), cols_(entries(), stream), vals_(entries(), stream) {
    write(a.values, cols_.data(), stream);
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) {
    write(values, nullptr, stream);
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) const {
    if (a_.rows == 0) return;
    detail::multiply_rows<<<blocks_for(a_.rows), kThreads, 0, stream>>>(
        a_.rows, width_, cols_.data(), vals_.data(), x.data(), y.data(),
        accumulate == Accumulate::yes);
    check_launch();
  }

  std::int64_t entries() const { return a_.rows * width_; }
  std::int64_t bytes() const {
    return entries() * static_cast<std::int64_t>(sizeof(Value) + sizeof(std::int32_t));
  }

 private:
  void write(DeviceSpan<const Value> values, std::int32_t* cols, StreamRef stream) {
    if (entries() == 0) return;
    detail::write_rows<<<blocks_for(a_.rows), kThreads, 0, stream>>>(
        a_.rows, width_, a_.row_ptr.data(), a_.col_idx.data(), values.data(), cols, vals_.data());
    check_launch();
  }

  DeviceCsr<Value> a_;
  std::int64_t width_ = 0;
  DeviceBuffer<std::int32_t> cols_;
  DeviceBuffer<Value> vals_;
};

}  // namespace trireme::padded
