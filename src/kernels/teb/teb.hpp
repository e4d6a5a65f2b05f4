// SPDX-License-Identifier: BSD-3-Clause
// TEB: the builders that the registry names. layout.hpp documents the layout and names the paper.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Both kernels keep the view's row_ptr for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_teb_host(const CsrView<Value>& matrix);

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_teb_cuda(const DeviceCsr<Value>& matrix, StreamRef stream);
// Mixed precision: values are stored in FP32; x and y are in FP64.
std::unique_ptr<CudaKernel<double>> build_teb_mixed_cuda(const DeviceCsr<double>& matrix,
                                                         StreamRef stream);

}  // namespace trireme
