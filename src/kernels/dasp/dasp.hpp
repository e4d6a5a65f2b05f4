// SPDX-License-Identifier: BSD-3-Clause
// DASP: the builders that the registry names. layout.hpp documents the layout and names the paper.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The host executor is the readable specification of the CUDA executor. The kernel keeps the
// view's row_ptr for update_values(). Value: double, float. Throws Error{input} when a part of the
// layout has more than 2^31-1 stored entries.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_dasp_host(const CsrView<Value>& matrix);

// Builds the layout on the GPU and multiplies there. Products of one kernel must not overlap, also
// not in different streams: the partial sums of long rows use shared scratch memory. The kernel
// keeps the view's row_ptr for update_values(). Value: double, float, Half. Throws Error{input} as
// above.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_dasp_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream);
// Mixed precision: values are stored in FP32; x, y and all sums are in FP64.
std::unique_ptr<CudaKernel<double>> build_dasp_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream);

}  // namespace trireme
