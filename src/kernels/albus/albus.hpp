// SPDX-License-Identifier: BSD-3-Clause
// ALBUS: the builders that the registry names. layout.hpp documents the host layout and names the
// paper; kernels/multiply_tile.cuh documents the CUDA executor.
#pragma once

#include <memory>
#include <string_view>

#include "base/choices.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel keeps the view: update_values() stores the address of the new values and copies
// nothing. The layout has one part per OpenMP thread, or fewer where a part would be too small to
// pay for its thread. Value: double, float, std::int32_t.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_host(const CsrView<Value>& matrix);

// Mixed precision: the kernel owns a copy of the values in FP32; x and y are in FP64.
std::unique_ptr<HostKernel<double>> build_albus_mixed_host(const CsrView<double>& matrix);

// The same with a number of parts that follows the nonzeros only, so that the bits of a product do
// not depend on the number of threads, for preconditioners.
std::unique_ptr<HostKernel<double>> build_albus_fixed_host(const CsrView<double>& matrix,
                                                           Precision precision);

// The kernel keeps the view. After update_values() it reads the new array; a CUDA graph captured
// before that call still reads the old array. Value: double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_albus_cuda(const DeviceCsr<Value>& matrix,
                                                    StreamRef stream);

// Mixed precision: the kernel owns a copy of the values in FP32; x and y are in FP64.
std::unique_ptr<CudaKernel<double>> build_albus_mixed_cuda(const DeviceCsr<double>& matrix,
                                                           StreamRef stream);

// The SIMD instruction set that Highway selects on this machine: "AVX3", "AVX2", "NEON", ...
std::string_view albus_simd_target();

}  // namespace trireme
