// SPDX-License-Identifier: BSD-3-Clause
// SELL as a registered kernel; see layout.hpp.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// double, float. Keeps the view's pattern, for update_values().
template <class Value>
std::unique_ptr<HostKernel<Value>> build_sell_host(const CsrView<Value>& matrix);

// Keeps the view's pattern, for update_values(). That waits for the stream where values that were
// exact in FP32 may cease to be so, and may then move them: a graph captured before it must be
// captured again. double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_sell_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream);
// Values rounded to FP32, x and y in FP64.
std::unique_ptr<CudaKernel<double>> build_sell_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream);

}  // namespace trireme
