// SPDX-License-Identifier: BSD-3-Clause
// A PC of any type as the preconditioner of a resident loop on the host.
#pragma once

#include <petscksp.h>

#include <span>

#include "petsc/shim.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme {

// z = P M^-1 r, where M^-1 is PCApply and P removes the null space that is attached to Amat at the
// time of the call; without one, P = 1. PETSc's loops apply the same. Where r is in the range of A,
// A P = A, so that the solution is that of M^-1 without its part in the null space.
class AppliedPc final : public solvers::GivenPreconditioner {
 public:
  // The PC is handed duplicates of `like`, so that it finds what PETSc's own loops would hand to
  // it: their type, block size and DM. The PC must outlive this. Collective.
  AppliedPc(PC pc, Vec like);
  void apply(std::span<const double> r, std::span<double> z) override;
  PC pc() const { return pc_; }

 private:
  PC pc_;
  VecHandle r_, z_;
};

// While this lives, the right-hand side of the KSP has no part in the null space of A^T, which a
// loop would not reduce. PETSc removes it where the matrix is marked as symmetric, or where
// MatSetTransposeNullSpace() was called. `symmetric`: the method is for symmetric matrices, so that
// the null space of A is that of A^T. Collective.
class ConsistentRightHandSide {
 public:
  ConsistentRightHandSide(KSP ksp, bool symmetric);
  ~ConsistentRightHandSide();
  ConsistentRightHandSide(const ConsistentRightHandSide&) = delete;
  ConsistentRightHandSide& operator=(const ConsistentRightHandSide&) = delete;

 private:
  KSP ksp_;
  Vec given_ = nullptr;  // null: nothing was to be removed
  VecHandle consistent_;
};

// The null space that is attached to a Mat; null: none.
MatNullSpace null_space_of(Mat mat);

}  // namespace trireme
