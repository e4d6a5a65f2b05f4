// SPDX-License-Identifier: BSD-3-Clause
// TileSpMV: the builders that the registry names. layout.hpp documents the layout and names the
// paper.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel copies pattern and values. Besides the layout it keeps 4 bytes per nonzero for
// update_values(). The first step of its statistics says how many tiles have which format. Value:
// double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_tilespmv_host(const CsrView<Value>& matrix);

// The same on a GPU. The layout is built there. Value: double, float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_tilespmv_cuda(const DeviceCsr<Value>& matrix,
                                                       StreamRef stream);
// Mixed precision: values are rounded to FP32; x and y are in FP64.
std::unique_ptr<CudaKernel<double>> build_tilespmv_mixed_cuda(const DeviceCsr<double>& matrix,
                                                              StreamRef stream);

}  // namespace trireme
