// SPDX-License-Identifier: BSD-3-Clause
// SELL: the builders that the registry names. layout.hpp documents the layout and names the paper.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel keeps the view's pattern for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_sell_host(const CsrView<Value>& matrix);

// The kernel keeps the view's pattern for update_values(). Where the values were exact in FP32,
// update_values() waits for the stream to learn whether the new values are exact too. If they are
// not, it moves them to another array, and a CUDA graph captured before that call must be captured
// again. Value: double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_sell_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream);
// Mixed precision: values are rounded to FP32; x and y are in FP64.
std::unique_ptr<CudaKernel<double>> build_sell_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream);

}  // namespace trireme
