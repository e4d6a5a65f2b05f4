// SPDX-License-Identifier: BSD-3-Clause
// The plain CSR products: the reference of every other kernel, and the host's baseline.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel keeps the view and builds nothing. update_values() makes it read the new array. Value:
// double, float, std::int32_t.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr_host(const CsrView<Value>& matrix);

// Mixed precision: the kernel owns a copy of the values in FP32; x and y are in FP64.
std::unique_ptr<HostKernel<double>> build_csr_mixed_host(const CsrView<double>& matrix);

// On CUDA both kernels keep the view. After update_values() they read the new array; a CUDA graph
// captured before that call still reads the old array. Value: double, float, Half.

// One thread sums one row.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr_scalar_cuda(const DeviceCsr<Value>& matrix,
                                                         StreamRef stream);

// 2 to 32 threads sum one row. The mean row length decides their number.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr_vector_cuda(const DeviceCsr<Value>& matrix,
                                                         StreamRef stream);

// Mixed precision: the kernel owns a copy of the values in FP32; x and y are in FP64.
std::unique_ptr<CudaKernel<double>> build_csr_vector_mixed_cuda(const DeviceCsr<double>& matrix,
                                                                StreamRef stream);

}  // namespace trireme
