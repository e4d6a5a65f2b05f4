// SPDX-License-Identifier: BSD-3-Clause
// A CSR matrix in device memory: a view, which the CUDA builders take, and an owner.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/uploader.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// A view. row_ptr has rows + 1 offsets, col_idx has nnz columns in [0, cols), and values has nnz
// values, as in sparse/csr.hpp.
template <class Value>
struct DeviceCsr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  DeviceSpan<const std::int32_t> row_ptr;
  DeviceSpan<const std::int32_t> col_idx;
  DeviceSpan<const Value> values;
};

// Owns the arrays.
template <class Value>
struct DeviceCsrMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  DeviceBuffer<std::int32_t> row_ptr;
  DeviceBuffer<std::int32_t> col_idx;
  DeviceBuffer<Value> values;

  DeviceCsr<Value> view() const {
    return {rows,           cols,           static_cast<std::int64_t>(values.size()),
            row_ptr.view(), col_idx.view(), values.view()};
  }
};

// Copies the matrix to the current device, asynchronously in `stream`. Throws Error{resource} when
// it does not fit into device memory.
template <class Value>
DeviceCsrMatrix<Value> to_device(const CsrView<Value>& matrix, StreamRef stream) {
  return {matrix.rows, matrix.cols, to_device(matrix.row_ptr, stream),
          to_device(matrix.col_idx, stream), to_device(matrix.values, stream)};
}
// The same by `uploader`, which has read the matrix when the call returns.
template <class Value>
DeviceCsrMatrix<Value> to_device(const CsrView<Value>& matrix, Uploader& uploader,
                                 StreamRef stream) {
  return {matrix.rows, matrix.cols, uploader.to_device(matrix.row_ptr, stream),
          uploader.to_device(matrix.col_idx, stream), uploader.to_device(matrix.values, stream)};
}

}  // namespace trireme
