// SPDX-License-Identifier: BSD-3-Clause
// Kernels for the blocks of rows of a matrix in GPU memory that has more nonzeros than 32-bit
// offsets count. This header compiles without CUDA.
//
//        rows of block 0    kernel 0   y[0 .. f1)
//   A =  rows of block 1    kernel 1   y[f1 .. f2)     each reads all of x
//        rows of block 2    kernel 2   y[f2 .. rows)
//
// The products of the blocks follow each other in the stream. A row lies in one block, so that its
// sum is that of the block's kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/blocked_device_csr.hpp"
#include "kernels/kernel.hpp"

namespace trireme {

// Its product is fused with a dot product where the matrix is square and all kernels are
// RowBlockDots. The partial sums of the blocks follow each other.
template <class Value>
class BlockedCudaKernel final : public CudaKernel<Value> {
 public:
  struct Part {
    std::int64_t first_row = 0, rows = 0;
    std::int64_t first_entry = 0, nnz = 0;
    std::unique_ptr<CudaKernel<Value>> kernel;
  };
  // The rows and the entries of the parts, of which there is at least one, follow each other. Each
  // part has `cols` columns.
  BlockedCudaKernel(std::vector<Part> parts, std::int64_t cols);

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override;
  void update_values(DeviceSpan<const Value> values, StreamRef stream) override;
  KernelStatistics statistics() const override;
  bool multiplies_vectors() const override;
  void multi_multiply(DeviceMultiVector<const Value> x, DeviceMultiVector<Value> y,
                      Accumulate accumulate, StreamRef stream) override;
  // Gives part `number` its own new values.
  void update_part(std::size_t number, DeviceSpan<const Value> values, StreamRef stream) {
    parts_[number].kernel->update_values(values, stream);
  }
  std::size_t dot_partials() const override { return dot_partials_; }
  void multiply_and_dot(DeviceSpan<const Value> x, DeviceSpan<Value> y, DeviceSpan<double> partials,
                        StreamRef stream) override;

 private:
  std::vector<Part> parts_;
  std::size_t dot_partials_ = 0;
};

template <class Value>
using CudaKernelBuilder =
    std::function<std::unique_ptr<CudaKernel<Value>>(const DeviceCsr<Value>&)>;

// Calls its argument for each block of a matrix, of which there is at least one, in their order.
template <class Value>
using EachRowBlock =
    std::function<void(const std::function<void(const DeviceRowBlock<Value>&)>& visit)>;

// A kernel for the matrix of these blocks: build(csr) for one block, otherwise a BlockedCudaKernel.
// Their arrays must outlive it, as far as `build` says so. Throws what `build` throws.
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_by_blocks(const EachRowBlock<Value>& each_block,
                                                   const CudaKernelBuilder<Value>& build);
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_by_blocks(std::span<const DeviceRowBlock<Value>> blocks,
                                                   const CudaKernelBuilder<Value>& build);

}  // namespace trireme
