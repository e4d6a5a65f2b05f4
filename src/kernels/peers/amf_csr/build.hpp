// SPDX-License-Identifier: BSD-3-Clause
// Builds the AMF-CSR layout from a CSR on the host, in O(rows + nnz rows per row block) time. All
// OpenMP threads fold rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/peers/amf_csr/layout.hpp"
#include "kernels/peers/amf_csr/thresholds.hpp"
#include "sparse/csr.hpp"

namespace trireme::amf_csr {

template <class Value>
struct BuiltLayout {
  Layout<Value> layout;
  std::vector<BuildStep> steps;
};

// Value: double, float.
template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Thresholds& thresholds);

// Copies new values to their places. `csr_values` are in the order of the CSR that the layout was
// built from; row_ptr is that of the CSR.
template <class Value>
void reorder_values(std::span<const std::int32_t> row_ptr, std::span<const Value> csr_values,
                    Layout<Value>& layout);

}  // namespace trireme::amf_csr
