// SPDX-License-Identifier: BSD-3-Clause
// The host kernel of ragged rows (ragged.hpp). build_sell_host() takes it where is_ragged().
#pragma once

#include <memory>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme::sell {

// The kernel keeps the view's pattern for update_values(). Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_ragged_host(const CsrView<Value>& matrix);

}  // namespace trireme::sell
