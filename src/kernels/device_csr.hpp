// SPDX-License-Identifier: BSD-3-Clause
// A CSR matrix in GPU memory, as the CUDA builders take it.
#pragma once

#include <cstdint>

#include "device/span.hpp"

namespace trireme {

// A view: rows + 1 offsets, nnz column ids in [0, cols), nnz values. See sparse/csr.hpp.
template <class Value>
struct DeviceCsr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  DeviceSpan<const std::int32_t> row_ptr;
  DeviceSpan<const std::int32_t> col_idx;
  DeviceSpan<const Value> values;
};

}  // namespace trireme
