// SPDX-License-Identifier: BSD-3-Clause
// COO: the builders that the list of peers names. kernels/peers/coordinates.hpp documents the
// layout and names the paper.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel keeps the view's pattern for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_coo_host(const CsrView<Value>& matrix);

// The kernel keeps the view's pattern for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_coo_cuda(const DeviceCsr<Value>& matrix, StreamRef stream);

}  // namespace trireme
