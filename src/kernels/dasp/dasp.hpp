// SPDX-License-Identifier: BSD-3-Clause
// The DASP kernel: see layout.hpp for the paper and the layout.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Walks the layout on the host: the specification of the CUDA executor. double and float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_dasp_host(const CsrView<Value>& matrix);

}  // namespace trireme
