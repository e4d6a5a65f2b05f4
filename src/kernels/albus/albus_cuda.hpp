// SPDX-License-Identifier: BSD-3-Clause
// ALBUS on CUDA: equal nonzeros a block, rows cut where they fall. See tile.cuh.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"

namespace trireme {

// Keeps the view: update_values() makes it read the new array, so a graph captured before goes on
// using the old one. double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_albus_cuda(const DeviceCsr<Value>& matrix,
                                                    StreamRef stream);
// The same with the values stored in FP32.
std::unique_ptr<CudaKernel<double>> build_albus_mixed_cuda(const DeviceCsr<double>& matrix,
                                                           StreamRef stream);

}  // namespace trireme
