// SPDX-License-Identifier: BSD-3-Clause
// The plain CSR products: reference and yardstick of every other kernel.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Keeps the view; builds nothing.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr_host(const CsrView<Value>& matrix);

// The same with the values stored in FP32; x and y in FP64.
std::unique_ptr<HostKernel<double>> build_csr_mixed_host(const CsrView<double>& matrix);

// On CUDA, both keep the view: update_values() makes them read the new array instead, so a graph
// captured before it goes on using the old one. double, float, Half.
// A thread a row.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr_scalar_cuda(const DeviceCsr<Value>& matrix,
                                                         StreamRef stream);
// 2 to 32 threads a row, by the mean row length.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr_vector_cuda(const DeviceCsr<Value>& matrix,
                                                         StreamRef stream);
// The same with the values stored in FP32.
std::unique_ptr<CudaKernel<double>> build_csr_vector_mixed_cuda(const DeviceCsr<double>& matrix,
                                                                StreamRef stream);

}  // namespace trireme
