// SPDX-License-Identifier: BSD-3-Clause
// Turns row pointers into one row number per entry, as COO needs them.
#pragma once

#include <cstdint>

namespace trireme::cusparse {

// One warp per row, for any grid. row_of has nnz elements.
static __global__ void expand_rows(std::int64_t rows, const std::int32_t* row_ptr,
                                   std::int32_t* row_of) {
  const int lane = threadIdx.x % 32;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x / 32;
  for (std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
       row < rows; row += stride)
    for (std::int32_t k = row_ptr[row] + lane; k < row_ptr[row + 1]; k += 32)
      row_of[k] = static_cast<std::int32_t>(row);
}

}  // namespace trireme::cusparse
