// SPDX-License-Identifier: BSD-3-Clause
// JDS: the builders that the registry names. layout.hpp documents the layout and names the papers.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel keeps the view's pattern for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_jds_host(const CsrView<Value>& matrix);

// The kernel keeps the view's pattern for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_jds_cuda(const DeviceCsr<Value>& matrix, StreamRef stream);

}  // namespace trireme
