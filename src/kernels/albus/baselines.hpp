// SPDX-License-Identifier: BSD-3-Clause
// The kernels that the ALBUS library for Loongson CPUs is compared with in its document. All of
// them walk the caller's CSR.
//
//   document            kernel          threads                         SIMD
//   spmv, the original  albus-naive     one                             no
//   spmv2               albus-simd      one                             yes
//   spmv3               csr             equal rows per thread           no
//   spmv4               albus-threads   equal nonzeros per thread       no
//   spmv5               albus           equal nonzeros per thread       yes
#pragma once

#include <memory>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Each kernel keeps the view: update_values() stores the address of the new values. Value: double,
// float, std::int32_t.

// One thread sums one row after the other.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_naive_host(const CsrView<Value>& matrix);

// One thread sums one row after the other in SIMD instructions.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_simd_host(const CsrView<Value>& matrix);

// The parts of the ALBUS layout (layout.hpp) without windows, in scalar instructions.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_threads_host(const CsrView<Value>& matrix);

}  // namespace trireme
