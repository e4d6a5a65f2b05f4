// SPDX-License-Identifier: BSD-3-Clause
// The matrix that a KSP multiplies by, whichever kernel does it, and what the product costs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "distributed/operator.hpp"
#include "petsc/shim.hpp"

namespace trireme {

class KspSolver;

class Amat {
 public:
  explicit Amat(bool on_gpu) : on_gpu_(on_gpu) {}
  virtual ~Amat() = default;
  Amat(const Amat&) = delete;
  Amat& operator=(const Amat&) = delete;

  virtual Mat mat() const = 0;
  // The same matrix where it holds its entries as PETSc's preconditioners need them; else null.
  virtual Mat assembled() const { return nullptr; }
  virtual ProductTimes& times() = 0;
  virtual KernelStatistics statistics() const = 0;
  bool on_gpu() const { return on_gpu_; }
  // Mixed precision, where rounding to FP32 changes the matrix.
  virtual bool inexact() const { return false; }
  double build_seconds() const { return build_seconds_; }    // of the slowest rank
  double upload_seconds() const { return upload_seconds_; }  // likewise

  // The operator of a registered kernel; null for PETSc's own product.
  virtual std::shared_ptr<Operator> shared_operator() const { return nullptr; }
  // Multiplies by another operator of the same matrix and device: see replace_operator(). Throws
  // Error{internal} for PETSc's own product. Collective.
  virtual void replace_operator(const std::shared_ptr<Operator>& op, bool solver_starts_anew);
  // Gives the present values of the shared matrix to the product and tells PETSc of the change.
  // False where the product must be built anew for them. Collective.
  virtual bool refresh_values() = 0;

  // Chooses the order of rows that the solver works in. The trial counts as build time. Collective.
  virtual void choose_row_order(KspSolver&) {}
  // Times some products apart where the solves have left no times, as a loop that stays on the GPU
  // leaves none. Collective.
  virtual void time_products_if_none_was() {}
  // What a report says about the product, one line each. Collective.
  virtual std::vector<std::string> notes() { return {}; }

 protected:
  bool on_gpu_;
  double build_seconds_ = 0, upload_seconds_ = 0;
};

// Builds the product of a kernel that a case can name. The matrix is shared. `ordered` is as in
// make_operator(). Throws the same Error on every rank. Collective.
std::unique_ptr<Amat> make_amat(const std::shared_ptr<DistributedMatrix>& matrix,
                                const KernelChoice& kernel,
                                std::shared_ptr<OrderedMatrix> ordered = nullptr);

// The operator of a registered kernel, or of petsc-aij on the host, on the device and in the
// precision of the choice. A GPU's is made with the exchange that PETSc's options ask for. The
// kernels work in the order `ordered`, which several operators can share; where it is null, the
// function finds the order that kernel.ordering names. Collective.
std::shared_ptr<Operator> make_operator(const std::shared_ptr<DistributedMatrix>& matrix,
                                        const KernelChoice& kernel,
                                        std::shared_ptr<OrderedMatrix> ordered = nullptr);

}  // namespace trireme
