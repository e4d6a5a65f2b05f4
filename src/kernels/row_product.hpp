// SPDX-License-Identifier: BSD-3-Clause
// What host kernels offer that can multiply several vectors by a few rows at a time, and sum the
// dot products of a solver while X and Y are in a cache.
#pragma once

#include <cstdint>

#include "sparse/multi_vector.hpp"

namespace trireme {

// A HostKernel<Value> that also derives from this class has the product. Both functions may be
// called by several threads at the same time.
template <class Value>
class RowProduct {
 public:
  virtual ~RowProduct() = default;
  RowProduct() = default;
  RowProduct(const RowProduct&) = delete;
  RowProduct& operator=(const RowProduct&) = delete;

  // The number of nonzeros in the rows 0 .. row - 1.
  virtual std::int64_t nonzeros_before(std::int64_t row) const = 0;
  // Computes the rows first .. last - 1 of Y = A X in the calling thread, and adds x_ij y_ij of
  // these rows to dots[j], row after row, unless `dots` is null. The matrix is square where it is
  // not. The vectors of X and of Y lie side by side (vector_stride 1), and X and Y do not overlap.
  virtual void multiply_and_dot(MultiVector<const Value> x, MultiVector<Value> y,
                                std::int64_t first, std::int64_t last, Value* dots) const = 0;
};

}  // namespace trireme
