// SPDX-License-Identifier: BSD-3-Clause
// ELL: the builders that the list of peers names. kernels/peers/padded_rows.hpp documents the
// layout and names the papers; the width is the length of the longest row.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel keeps the view's pattern for update_values(). Throws Error{resource} where the padded
// rows need more memory than ell::kMaxMemory times that of CSR. Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_ell_host(const CsrView<Value>& matrix);

// The same in device memory. Throws Error{resource} as the host does.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_ell_cuda(const DeviceCsr<Value>& matrix, StreamRef stream);

}  // namespace trireme
