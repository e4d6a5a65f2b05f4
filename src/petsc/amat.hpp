// SPDX-License-Identifier: BSD-3-Clause
// The matrix that a KSP multiplies by, whether a Trireme kernel does it or PETSc, and what it
// costs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "distributed/cuda_operator.hpp"
#include "distributed/operator.hpp"
#include "petsc/assembled_mat.hpp"
#include "petsc/ksp_solver.hpp"
#include "petsc/shim.hpp"

namespace trireme {

class Amat {
 public:
  // Builds the kernel, or PETSc's own matrix for petsc-aij. Collective, as are all that time or
  // order.
  Amat(const std::shared_ptr<DistributedMatrix>& matrix, const KernelChoice& kernel);

  Mat mat() const { return aij_ ? aij_->mat() : static_cast<Mat>(shell_); }
  Mat assembled() const { return aij_ ? aij_->mat() : nullptr; }
  ProductTimes& times() { return aij_ ? aij_->times() : operator_->times(); }
  const KernelStatistics& statistics() const { return statistics_; }
  double build_seconds() const { return build_seconds_; }  // of the slowest rank
  double upload_seconds() const { return upload_seconds_; }
  bool on_gpu() const { return on_gpu_; }
  bool inexact() const { return operator_ && operator_->inexact(); }

  // The rows' order that the solver will work in; takes its time into that of the build.
  void choose_row_order(PetscSolver& solver);
  // What came of it, in a line; empty where nothing was tried.
  std::string row_order_note() const;
  // A loop that stays on the device leaves no events behind: then products of their own are timed.
  void time_products_if_none_was();
  // Of host vectors to the device and back, a product; 0 where the vectors live on the device.
  double staging_us() const { return cuda_ ? cuda_->staging_us() : 0; }
  // How the GPUs of several ranks reach each other, with a reason where the best way is left out;
  // empty: they do not.
  std::string exchange() const;
  // Advice where the matrix is small for its GPUs; else empty.
  std::string advice_on_shares() const;

 private:
  bool on_gpu_;
  std::unique_ptr<AssembledMat> aij_;
  std::shared_ptr<Operator> operator_;
  std::shared_ptr<CudaOperator> cuda_;  // the same, where it is ours and on a GPU
  MatHandle shell_;
  KernelStatistics statistics_;
  double build_seconds_ = 0, upload_seconds_ = 0;
};

}  // namespace trireme
