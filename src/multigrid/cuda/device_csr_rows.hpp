// SPDX-License-Identifier: BSD-3-Clause
// A CSR matrix of the set-up in device memory, whose arrays live and die in a stream.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"

namespace trireme::multigrid {

struct DeviceRows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  ScratchBuffer<std::int32_t> row_ptr;
  ScratchBuffer<std::int32_t> col_idx;
  ScratchBuffer<double> values;  // empty where only the pattern is kept

  std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
  DeviceCsr<double> view() const {
    return {rows, cols, nnz(), row_ptr.view(), col_idx.view(), values.view()};
  }
};

}  // namespace trireme::multigrid
