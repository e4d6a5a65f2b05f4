// SPDX-License-Identifier: BSD-3-Clause
// The rule by which a solve ends, as its caller states it; state.hpp applies it.
#pragma once

#include <cstdint>

namespace trireme::solvers {

enum class NormKind : int { none, preconditioned, unpreconditioned, natural };

// What the unpreconditioned norm of a solver with row scales R is made of; see NormTerm. Without
// row scales, which is where the rows of the matrix have like sizes, all three are the norm of r.
enum class RowTest : int {
  none,  // the norm of r
  both,  // at most rtol only if ||r|| <= rtol ||b|| and ||R r|| <= rtol ||R b||
  only   // the norm of R r
};

// PETSc's default convergence rule. The reference norm is that of b or of the initial residual.
struct Tolerances {
  double rtol = 1e-8;
  double atol = 1e-50;
  double divtol = 1e4;
  std::int64_t max_iterations = 10000;
  std::int64_t min_iterations = 0;
  // The last iteration without a test (PETSc's chknorm); -1: every iteration is tested.
  std::int64_t untested_iterations = -1;
  bool relative_to_initial_residual = false;
  bool relative_to_smaller = false;  // of ||b|| and the norm of the initial residual
  bool limit_is_success = false;     // reaching max_iterations is CONVERGED_ITS
  bool judged_by_caller = false;     // a convergence test of the caller decides
  // A guess whose residual is larger than that of x = 0 is not used.
  bool drops_worse_guess = false;
  NormKind norm = NormKind::unpreconditioned;
  RowTest rows = RowTest::none;  // of the unpreconditioned norm
};

}  // namespace trireme::solvers
