// SPDX-License-Identifier: BSD-3-Clause
// The product of a block of rows that is fused with a dot product: BlockedCudaKernel has the
// product of CudaKernel::multiply_and_dot() where the kernels of all of its blocks are
// RowBlockDots. This header compiles without CUDA.
#pragma once

#include <cstddef>

#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme {

// Some CudaKernels are RowBlockDots too.
template <class Value>
class RowBlockDot {
 public:
  virtual ~RowBlockDot() = default;

  // The numbers that multiply_block_and_dot() writes: at least one, and always the same number.
  virtual std::size_t block_dot_partials() const = 0;
  // y = A x for rows of a square matrix, whose columns A has. `x_of_rows` is the part of x at these
  // rows. Writes block_dot_partials() numbers, in a fixed order, whose sum is the dot product of
  // x_of_rows and y. Asynchronous in `stream`.
  virtual void multiply_block_and_dot(DeviceSpan<const Value> x, DeviceSpan<const Value> x_of_rows,
                                      DeviceSpan<Value> y, DeviceSpan<double> partials,
                                      StreamRef stream) = 0;
};

}  // namespace trireme
