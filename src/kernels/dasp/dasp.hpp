// SPDX-License-Identifier: BSD-3-Clause
// The DASP kernel: see layout.hpp for the paper and the layout.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Walks the layout on the host: the specification of the CUDA executor. double and float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_dasp_host(const CsrView<Value>& matrix);

// Builds on the GPU and multiplies there; double, float and Half. One product at a time: products
// of one kernel in several streams must not overlap (long rows meet in memory).
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_dasp_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream);
// Values stored in FP32; x, y and all sums in FP64.
std::unique_ptr<CudaKernel<double>> build_dasp_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream);

}  // namespace trireme
