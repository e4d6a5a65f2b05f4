// SPDX-License-Identifier: BSD-3-Clause
// Builds the LSRB-CSR layout from a CSR on the host, in O(rows + segments log rows) time. All
// OpenMP threads share the segments.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/peers/lsrb_csr/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::lsrb_csr {

template <class Value>
struct BuiltLayout {
  Layout<Value> layout;
  std::vector<BuildStep> steps;
};

// The layout refers to the columns and values of `matrix`, which must outlive it. Value: double,
// float.
template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Cut& cut);

}  // namespace trireme::lsrb_csr
