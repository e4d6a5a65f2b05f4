// SPDX-License-Identifier: BSD-3-Clause
// Builds the JDS layout on the host.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/peers/jds/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::jds {

// Takes O(nnz + rows) time. The timed steps are appended to `steps`. Value: double, float.
template <class Value>
Layout<Value> build(const CsrView<Value>& a, std::vector<BuildStep>& steps);

// Stores new values on the same pattern.
template <class Value>
void fill_values(const CsrView<Value>& a, Layout<Value>& layout);

}  // namespace trireme::jds
