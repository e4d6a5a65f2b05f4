// SPDX-License-Identifier: BSD-3-Clause
// NVIDIA's cuSPARSE as registered kernels: the yardstick. Its preprocessing and workspaces belong
// to the build. Throws Error{resource} where the machine has no libcusparse.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"

namespace trireme {

// CSR with the default algorithm (ALG1). cuSPARSE does not promise the same bits from run to run.
// Keeps the view. double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_csr(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream);
// The same with values stored in FP32.
std::unique_ptr<CudaKernel<double>> build_cusparse_csr_mixed(const DeviceCsr<double>& matrix,
                                                             StreamRef stream);
// CSR with the deterministic algorithm (ALG2).
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_csr_alg2(const DeviceCsr<Value>& matrix,
                                                           StreamRef stream);
// COO with the default algorithm; not deterministic.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_coo(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream);
// Sliced ELLPACK, 32 rows a slice. Throws Error{resource} when padding exceeds 2^31-1 entries.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_sell(const DeviceCsr<Value>& matrix,
                                                       StreamRef stream);
// Square blocks of 2, 3, 4, 5, 6 or 8 rows, whichever stores least. double, float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_bsr(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream);

}  // namespace trireme
