// SPDX-License-Identifier: BSD-3-Clause
// Y = A X for several vectors in any layout, by any kernel on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "kernels/kernel.hpp"
#include "kernels/row_product.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme {

// Brings vectors to the layout that the kernel multiplies, and brings Y back: side by side where
// the kernel multiplies several vectors, otherwise one after the other. Vectors that already lie so
// are not copied. The kernel must outlive the object.
template <class Value>
class MultiProduct {
 public:
  // The matrix has `rows` rows and `cols` columns.
  MultiProduct(HostKernel<Value>& kernel, std::int64_t rows, std::int64_t cols);

  // Y = A X or Y += A X. X has `cols` rows, Y has `rows` rows, and both have the same width, which
  // may be 0. Throws Error{internal} where sizes disagree or X and Y share memory. Allocates only
  // where a layout or a larger width needs memory for the first time.
  void multiply(MultiVector<const Value> x, MultiVector<Value> y, Accumulate accumulate);

  // Y = A X, and in dots[c * width + j] the sum of x_ij y_ij over the rows i of chunk c, row after
  // row; a chunk has `chunk_rows` rows, and the last one has the rest. The matrix is square. All
  // threads have about the same number of nonzeros, and the bits do not depend on their number.
  // Returns false, and does nothing, where the kernel has no RowProduct, where one chunk has so
  // many nonzeros that the other threads would wait, or where X or Y does not lie side by side.
  // Throws what multiply() throws.
  bool multiply_and_dot(MultiVector<const Value> x, MultiVector<Value> y, std::int64_t chunk_rows,
                        Value* dots);

 private:
  // The chunks of each thread.
  struct Shares {
    std::int64_t chunk_rows = 0;
    bool even = false;                // no chunk has too many nonzeros
    std::vector<std::int64_t> begin;  // first chunk of thread t; the last element is the end
  };
  Shares cut(std::int64_t chunk_rows, std::int64_t threads) const;
  void check(MultiVector<const Value> x, MultiVector<Value> y) const;
  void multiply_side_by_side(MultiVector<const Value> x, MultiVector<Value> y, Accumulate how);
  void multiply_one_by_one(MultiVector<const Value> x, MultiVector<Value> y, Accumulate how);

  HostKernel<Value>* kernel_;
  std::int64_t rows_, cols_;
  Array<Value> x_, y_;
  const RowProduct<Value>* by_rows_;  // null: the kernel has none
  Shares shares_;
};

}  // namespace trireme
