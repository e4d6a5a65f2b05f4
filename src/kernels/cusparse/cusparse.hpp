// SPDX-License-Identifier: BSD-3-Clause
// NVIDIA's cuSPARSE as registered kernels, which include the GPU's baseline. The builders do the
// preprocessing of cuSPARSE and allocate its workspaces. They throw Error{resource} where the
// machine has no libcusparse.
#pragma once

#include <memory>

#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"

namespace trireme {

// CSR with the default algorithm (ALG1). cuSPARSE does not promise the same bits in every run. The
// kernel keeps the view. Value: double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_csr(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream);

// The same with the values stored in FP32; x and y are in FP64.
std::unique_ptr<CudaKernel<double>> build_cusparse_csr_mixed(const DeviceCsr<double>& matrix,
                                                             StreamRef stream);

// CSR with the deterministic algorithm (ALG2). Value: double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_csr_alg2(const DeviceCsr<Value>& matrix,
                                                           StreamRef stream);

// COO with the default algorithm, which is not deterministic. Value: double, float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_coo(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream);

// Sliced ELLPACK with 32 rows per slice. Throws Error{resource} when the matrix has more than
// 2^31-1 entries with its padding. Value: double, float, Half.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_sell(const DeviceCsr<Value>& matrix,
                                                       StreamRef stream);

// Block CSR with square blocks of 2, 3, 4, 5, 6 or 8 rows: the size that stores the fewest bytes.
// Value: double, float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_bsr(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream);

// Products of several vectors in CSR, with the default algorithm and with algorithms 1, 2 and 3 of
// cusparseSpMM. multi_multiply() also takes vectors one after the other, and allocates where a
// number of vectors or a layout comes for the first time. The last bits may differ from run to run,
// also those of algorithm 3, as seen with cuSPARSE 12.6. Where rows or vectors have gaps between
// them and do not begin at multiples of 16 bytes, the default algorithm multiplies. Value: double,
// float.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm(const DeviceCsr<Value>& matrix,
                                                       StreamRef stream);
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm_alg1(const DeviceCsr<Value>& matrix,
                                                            StreamRef stream);
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm_alg2(const DeviceCsr<Value>& matrix,
                                                            StreamRef stream);
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm_alg3(const DeviceCsr<Value>& matrix,
                                                            StreamRef stream);

}  // namespace trireme
