// SPDX-License-Identifier: BSD-3-Clause
// Seven products with several vectors that share plain CSR among threads in seven ways, and a rule
// that picks one of them: "SPMM on GPU", web article, 2023. They are registered to compare with.
//
// The mistakes in the article's listings are in docs/several-vectors.md.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/peers/spmm/split.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The kernel keeps the view. update_values() makes it read the new array. Value: double, float.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_spmm_host(SpmmSplit split, const CsrView<Value>& matrix);

// The same with the split as a part of the type, for the registry.
template <SpmmSplit split, class Value>
std::unique_ptr<HostKernel<Value>> build_spmm_host(const CsrView<Value>& matrix) {
  return build_spmm_host(split, matrix);
}

// On CUDA the kernel keeps the view. After update_values() it reads the new array; a CUDA graph
// captured before that call still reads the old array. Value: double, float.
template <SpmmSplit split, class Value>
std::unique_ptr<CudaKernel<Value>> build_spmm_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream);

}  // namespace trireme
