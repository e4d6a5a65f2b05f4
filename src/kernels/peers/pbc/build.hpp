// SPDX-License-Identifier: BSD-3-Clause
// Builds the PBC layout from a CSR on the host, with all OpenMP threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/peers/pbc/layout.hpp"
#include "kernels/peers/pbc/plan.hpp"
#include "sparse/csr.hpp"

namespace trireme::pbc {

template <class Value>
struct BuiltLayout {
  Layout<Value> layout;
  std::vector<BuildStep> steps;
};

// Value: double, float.
template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Plan& plan);

// Copies new values to their places. `csr_values` are in the order of the CSR that the layout was
// built from; row_ptr is that of the CSR.
template <class Value>
void reorder_values(std::span<const std::int32_t> row_ptr, std::span<const Value> csr_values,
                    Layout<Value>& layout);

}  // namespace trireme::pbc
