// SPDX-License-Identifier: BSD-3-Clause
// Builds the CSR5 layout from a CSR on the host, in O(nnz + rows) time, with all OpenMP threads.
#pragma once

#include <span>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/peers/csr5/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::csr5 {

// The timed steps are appended to `steps`. `shape` is at most kMaxOmega x kMaxSigma. Value: double,
// float.
template <class Value>
Layout<Value> build(const CsrView<Value>& matrix, TileShape shape, std::vector<BuildStep>& steps);

// Copies new values to their places. `csr_values` are in the order of the CSR that the layout was
// built from.
template <class Value>
void transpose_values(std::span<const Value> csr_values, Layout<Value>& layout);

}  // namespace trireme::csr5
