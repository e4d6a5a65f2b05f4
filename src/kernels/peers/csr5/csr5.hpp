// SPDX-License-Identifier: BSD-3-Clause
// CSR5: the builders that the registry names. layout.hpp documents the layout and names the paper.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/peers/csr5/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel copies the matrix and keeps no view. Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr5_host(const CsrView<Value>& matrix);

// The same with tiles of a given shape, which is at most kMaxOmega x kMaxSigma.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr5_host(const CsrView<Value>& matrix,
                                                   csr5::TileShape shape);

// The kernel copies columns and values, and keeps the view's row_ptr. Value: double, float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr5_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream);
// Mixed precision: values are stored in FP32; x and y are in FP64.
std::unique_ptr<CudaKernel<double>> build_csr5_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream);

}  // namespace trireme
