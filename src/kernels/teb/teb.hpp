// SPDX-License-Identifier: BSD-3-Clause
// TEB: the builders that the registry names.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Both keep the view's row_ptr, for update_values(). double and float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_teb_host(const CsrView<Value>& matrix);

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_teb_cuda(const DeviceCsr<Value>& matrix, StreamRef stream);
// The same with the values stored in FP32.
std::unique_ptr<CudaKernel<double>> build_teb_mixed_cuda(const DeviceCsr<double>& matrix,
                                                         StreamRef stream);

}  // namespace trireme
