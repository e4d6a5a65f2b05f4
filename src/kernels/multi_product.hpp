// SPDX-License-Identifier: BSD-3-Clause
// Y = A X for several vectors in any layout, by any kernel on the host.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "kernels/kernel.hpp"
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

 private:
  void multiply_side_by_side(MultiVector<const Value> x, MultiVector<Value> y, Accumulate how);
  void multiply_one_by_one(MultiVector<const Value> x, MultiVector<Value> y, Accumulate how);

  HostKernel<Value>* kernel_;
  std::int64_t rows_, cols_;
  Array<Value> x_, y_;
};

}  // namespace trireme
