// SPDX-License-Identifier: BSD-3-Clause
// PBC: the builders that the registry names. layout.hpp documents the layout and names the paper.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Both kernels keep the view's row_ptr for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_pbc_host(const CsrView<Value>& matrix);

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_pbc_cuda(const DeviceCsr<Value>& matrix, StreamRef stream);

}  // namespace trireme
