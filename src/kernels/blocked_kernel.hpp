// SPDX-License-Identifier: BSD-3-Clause
// A kernel for each block of rows of a matrix with more nonzeros than 32-bit offsets count.
//
//        rows of block 0   kernel 0     y[0 .. f1)
//   A =  rows of block 1   kernel 1     y[f1 .. f2)     each reads all of x
//        ...
//
// The blocks are multiplied one after the other, each by all threads. A row lies in one block, so
// that its sum is that of the block's kernel.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

template <class Value>
class BlockedKernel final : public HostKernel<Value> {
 public:
  struct Block {
    std::int64_t first_row = 0, rows = 0;
    std::int64_t first_entry = 0, nnz = 0;
    std::unique_ptr<HostKernel<Value>> kernel;
  };
  // The rows and the entries of the blocks follow each other.
  explicit BlockedKernel(std::vector<Block> blocks) : blocks_(std::move(blocks)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override;
  void update_values(std::span<const Value> values) override;
  KernelStatistics statistics() const override;
  bool multiplies_vectors() const override;
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override;

 private:
  std::vector<Block> blocks_;
};

// A kernel for `matrix`: build(view) for a matrix of one block, otherwise a BlockedKernel of
// build(view) for each block.
template <class Value, class Build>
std::unique_ptr<HostKernel<Value>> build_by_blocks(const CsrMatrix<Value>& matrix,
                                                   const Build& build) {
  std::vector<typename BlockedKernel<Value>::Block> blocks;
  for (const RowBlock<Value>& block : matrix.blocks())
    blocks.push_back(
        {block.first_row, block.csr.rows, block.first_entry, block.csr.nnz(), build(block.csr)});
  if (blocks.size() == 1) return std::move(blocks.front().kernel);
  return std::make_unique<BlockedKernel<Value>>(std::move(blocks));
}

}  // namespace trireme
