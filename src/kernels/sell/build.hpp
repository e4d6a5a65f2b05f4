// SPDX-License-Identifier: BSD-3-Clause
// Builds the SELL layout on the host.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/sell/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::sell {

// Takes O(nnz + rows log rows) time. The timed steps are appended to `steps`. Value: double, float.
template <class Value>
Layout<Value> build(const CsrView<Value>& a, std::vector<BuildStep>& steps);

// Stores new values on the same pattern. The layout moves from FP32 to Value when one of the new
// values is not exact in FP32.
template <class Value>
void fill_values(const CsrView<Value>& a, Layout<Value>& layout);

}  // namespace trireme::sell
