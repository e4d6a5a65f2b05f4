// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on the host for many right-hand sides at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solvers/host_solver.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// How the columns of a block work together.
//   lockstep  each column does the iterations of its own solve
//   block_cg  all columns search in one space (methods/block_cg.hpp): fewer iterations, of which each
//             costs more. Method::cg only
enum class BlockForm { lockstep, block_cg };

// Solves A X = B. All columns do the same part of the method at the same time, so that one product,
// one pass over the vectors and one sum over the processes serve them all. A column that has ended
// leaves the block, and the others are moved together.
//
// In lockstep, each column has its own scalars, and its iteration is that of HostSolver. A column's
// sums are added in an order that depends on the number of rows only. Where the kernel
// gives a column the same product at every width, a column therefore has the same bits whatever
// columns are beside it, and whatever the number of threads is. HostSolver adds sums in another
// order, so that the two agree within rounding.
//
// A solve that was stopped leaves the current iterates in X. It cannot go on as a solve of
// HostSolver can: the next solve begins anew from X.
class HostBlockSolver {
 public:
  // Throws what the constructor of HostSolver throws, and Error{usage} for block_cg with another
  // method or with a system that is inexact. block_cg has no variants. Collective over the system's
  // processes. `system` must outlive the solver.
  HostBlockSolver(HostSystem& system, Method method, Variant variant,
                  const PreconditionerSpec& spec, BlockForm form = BlockForm::lockstep);
  ~HostBlockSolver();
  HostBlockSolver(const HostBlockSolver&) = delete;
  HostBlockSolver& operator=(const HostBlockSolver&) = delete;

  // Solves A x_j = b_j by `rule` for each column j of B and X, which are this process's rows in the
  // caller's row order, have the same width, and may have any layout. X holds the initial guesses,
  // which are not read with `zero_guess`, and becomes the solutions. The result has one element per
  // column. `observers` is empty or has one observer per column, to which no iterate is shown. The
  // verdict of an observer must be the same on every process. `atol` is empty or has one value per
  // column, which takes the place of rule.atol.
  //
  // Throws Error{internal} where the sizes of B, X, `observers` and `atol` disagree, Error{resource}
  // where the memory for the block cannot be had, and Error{usage} for a rule that an inexact product
  // does not allow (require_norm()). Collective over the system's processes.
  std::vector<SolveResult> solve(MultiVector<const double> b, MultiVector<double> x,
                                 bool zero_guess, const Tolerances& rule,
                                 std::span<const IterationObserver> observers = {},
                                 std::span<const double> atol = {});

  // The bytes that this process's vectors take during a solve of `width` columns, beside the
  // caller's B and X. The solver keeps the memory of the widest solve.
  std::int64_t bytes(std::int64_t width) const;

  // Prepares the preconditioner anew, as Solver::renew() does.
  void renew(const PreconditionerSpec& spec);
  Variant variant() const;
  const PreparedPreconditioner& preconditioner() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
