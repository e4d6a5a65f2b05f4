// SPDX-License-Identifier: BSD-3-Clause
// The product of an operator with PETSc vectors, wherever PETSc keeps them.
#pragma once

#include "distributed/operator.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// Which matrix a mixed-precision operator multiplies by: the one whose values are rounded to FP32,
// or the matrix itself. The two are the same for any other operator.
enum class ProductOf { rounded_matrix, exact_matrix };

// y = A x. Vectors that PETSc keeps on a GPU are multiplied there by an operator on a GPU; every
// other combination goes through host memory. x and y are different vectors. Logs the floating
// point operations. Collective.
void multiply(Operator& op, Vec x, Vec y, ProductOf product);

// A vector of PETSc in host memory as a span, for as long as the object lives.
class ReadSpan {
 public:
  explicit ReadSpan(Vec vec);
  ~ReadSpan();
  ReadSpan(const ReadSpan&) = delete;
  ReadSpan& operator=(const ReadSpan&) = delete;
  std::span<const double> span() const { return {data_, size_}; }

 private:
  Vec vec_;
  std::size_t size_;
  const PetscScalar* data_ = nullptr;
};

// The same for a vector whose values are all written.
class WriteSpan {
 public:
  explicit WriteSpan(Vec vec);
  ~WriteSpan();
  WriteSpan(const WriteSpan&) = delete;
  WriteSpan& operator=(const WriteSpan&) = delete;
  std::span<double> span() const { return {data_, size_}; }

 private:
  Vec vec_;
  std::size_t size_;
  PetscScalar* data_ = nullptr;
};

}  // namespace trireme
