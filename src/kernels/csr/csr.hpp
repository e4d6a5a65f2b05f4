// SPDX-License-Identifier: BSD-3-Clause
// The plain CSR product: reference and yardstick of every other kernel.
#pragma once

#include <memory>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Keeps the view; builds nothing.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr_host(const CsrView<Value>& matrix);

}  // namespace trireme
