// SPDX-License-Identifier: BSD-3-Clause
// The product of a loop with FP32 vectors on a GPU: a kernel whose values, x and y are in FP32 and
// whose sums are in FP64. This header compiles without CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "device/buffer.hpp"
#include "kernels/kernel.hpp"

namespace trireme {

// Rounds the elements of `from` into `to`, which is as long. Asynchronous in `stream`. Throws
// Error{resource} in a build without CUDA.
void round_to_fp32(DeviceSpan<const double> from, DeviceSpan<float> to, StreamRef stream);

class NarrowKernel {
 public:
  // The kernel `name` for a square matrix with its values rounded to FP32; row_ptr and col_idx of
  // `matrix` must outlive it. Not empty, `row_defect` has one number per row, which every product
  // adds to the diagonal, and which the caller keeps. Works in `stream` and synchronises it.
  // Throws Error{resource} where the memory does not suffice.
  NarrowKernel(std::string_view name, const DeviceCsr<double>& matrix,
               DeviceSpan<const float> row_defect, StreamRef stream);

  // Whether the kernel `name` has an executor for FP32 on GPUs.
  static bool exists(std::string_view name);
  // False where the kernel cannot add the row defect. Then it must not be used.
  bool is_complete() const { return complete_; }

  // The number of partial sums of multiply(); 0: it cannot sum x.y.
  std::size_t dot_partials() const { return kernel_->dot_partials(); }
  // y = A x + row_defect x. Where `partials` is not empty, it has dot_partials() numbers, which
  // become numbers whose sum is x.y. Asynchronous in `stream`, which may be recorded.
  void multiply(DeviceSpan<const float> x, DeviceSpan<float> y, DeviceSpan<double> partials,
                StreamRef stream);
  // Whether multi_multiply() exists: Y = A X + row_defect X for vectors side by side, as
  // CudaKernel::multi_multiply().
  bool multiplies_vectors() const { return sums_in_fp64_ && kernel_->multiplies_vectors(); }
  void multi_multiply(DeviceMultiVector<const float> x, DeviceMultiVector<float> y,
                      StreamRef stream) {
    kernel_->multi_multiply(x, y, Accumulate::no, stream);
  }
  void update_values(DeviceSpan<const double> values, StreamRef stream);

 private:
  DeviceBuffer<float> values_;
  std::unique_ptr<CudaKernel<float>> kernel_;
  bool sums_in_fp64_ = false;  // by all products, which also add a row defect
  bool complete_ = true;
};

}  // namespace trireme
