// SPDX-License-Identifier: BSD-3-Clause
// Kernels for the parts of a matrix with more nonzeros than 32-bit offsets count.
//
//        rows of block 0   thread 0   kernel 0   y[0 .. f1)
//                          --------
//   A =  ...............   thread 1   kernel 1   y[f1 .. f2)     each reads all of x
//        rows of block 1              kernel 2   y[f2 .. f3)
//
// Each thread has consecutive rows with an equal share of the nonzeros, and one kernel for each
// block that these rows touch. Threads do not wait for each other before the end of the product,
// and a thread finds in its cache what neighbouring rows read of x. Where rows are so long that the
// shares would not be equal, each block has one kernel instead, and all threads multiply one block
// after the other. A row lies in one part, so that its sum is that of the part's kernel.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

template <class Value>
class BlockedKernel : public HostKernel<Value> {
 public:
  struct Part {
    std::int64_t first_row = 0, rows = 0;
    std::int64_t first_entry = 0, nnz = 0;
    Array<std::int32_t> row_ptr;  // of the kernel's matrix, where the part begins within a block
    std::unique_ptr<HostKernel<Value>> kernel;
  };
  // The rows and the entries of the parts follow each other. Thread t has the parts
  // [first_of_thread[t], first_of_thread[t + 1]), whose kernels were built for one thread; with one
  // element only, each part is multiplied by all threads.
  BlockedKernel(std::vector<Part> parts, std::vector<std::size_t> first_of_thread)
      : parts_(std::move(parts)), first_of_thread_(std::move(first_of_thread)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override;
  void update_values(std::span<const Value> values) override;
  KernelStatistics statistics() const override;
  bool multiplies_vectors() const override;
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override;

 protected:
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
  std::vector<std::size_t> first_of_thread_;
};

template <class Value>
using KernelBuilder = std::function<std::unique_ptr<HostKernel<Value>>(const CsrView<Value>&)>;

// A kernel for `matrix`, which must outlive it: build(view) for a matrix of one block, otherwise a
// BlockedKernel for as many threads as OpenMP has now. It is a RowProduct too where all of its
// kernels are. Several threads call `build` at the same time; the error of the first part that has
// one is thrown.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_by_blocks(const CsrMatrix<Value>& matrix,
                                                   const KernelBuilder<Value>& build);

}  // namespace trireme
