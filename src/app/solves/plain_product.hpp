// SPDX-License-Identifier: BSD-3-Clause
// A x by plain CSR in FP64, with which the reported residual is computed. It shares no code with
// the kernels and with the halo of the operators.
#pragma once

#include <petscsf.h>

#include <cstdint>
#include <memory>
#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/plain_residual.hpp"
#include "petsc/shim.hpp"

namespace trireme {

class PlainProduct {
 public:
  // Collective, as are all member functions.
  explicit PlainProduct(std::shared_ptr<const DistributedMatrix> matrix);

  const DistributedMatrix& matrix() const { return *matrix_; }
  // Comes after another pattern has taken the place of the matrix's. Collective.
  void take_pattern() { *this = PlainProduct(matrix_); }

  // y = A x, local parts.
  void multiply(std::span<const double> x, std::span<double> y);
  // ||b - A x||
  double residual_norm(std::span<const double> b, std::span<const double> x);
  Residual residual(std::span<const double> b, std::span<const double> x);
  // The same on a communicator of one rank, with `values` in place of the matrix's, whose pattern
  // they have. It neither communicates nor uses the memory of other members, so that another thread
  // may call it. Not collective.
  Residual residual_alone(std::span<const double> values, std::span<const double> b,
                          std::span<const double> x);

  double dot(std::span<const double> u, std::span<const double> v) const;
  // No square underflows or overflows, whatever the scale of v. NaN where a number of v on any rank
  // is NaN or infinite.
  double norm(std::span<const double> v) const;

 private:
  void subtract_product(std::span<const double> b, std::span<const double> x);  // into residual_

  std::shared_ptr<const DistributedMatrix> matrix_;
  PetscHandle<PetscSF, PetscSFDestroy> halo_;
  Array<double> ghosts_;
  Array<double> residual_;  // b - A x
  Array<double> residual_alone_;
};

}  // namespace trireme
