// SPDX-License-Identifier: BSD-3-Clause
// Rounds the values, and builds the FP32 kernel of the registry.
#include "kernels/narrow_kernel.hpp"

#include "kernels/numeric.cuh"
#include "kernels/registry.hpp"

namespace trireme {

void round_to_fp32(DeviceSpan<const double> from, DeviceSpan<float> to, StreamRef stream) {
  convert(from, to, stream);
}

NarrowKernel::NarrowKernel(std::string_view name, const DeviceCsr<double>& matrix,
                           DeviceSpan<const float> row_defect, StreamRef stream)
    : values_(static_cast<std::size_t>(matrix.nnz), stream) {
  convert(matrix.values, values_.span(), stream);
  kernel_ = build_cuda_kernel<float>(
      name, {matrix.rows, matrix.cols, matrix.nnz, matrix.row_ptr, matrix.col_idx, values_.view()},
      stream);
  sums_in_fp64_ = kernel_->add_diagonal(row_defect);
  complete_ = sums_in_fp64_ || row_defect.empty();
}

bool NarrowKernel::exists(std::string_view name) { return find_kernel(name).cuda_float != nullptr; }

void NarrowKernel::multiply(DeviceSpan<const float> x, DeviceSpan<float> y,
                            DeviceSpan<double> partials, StreamRef stream) {
  if (partials.empty())
    kernel_->multiply(x, y, Accumulate::no, stream);
  else
    kernel_->multiply_and_dot(x, y, partials, stream);
}

void NarrowKernel::update_values(DeviceSpan<const double> values, StreamRef stream) {
  convert(values, values_.span(), stream);
  kernel_->update_values(values_.view(), stream);
}

}  // namespace trireme
