// SPDX-License-Identifier: BSD-3-Clause
// The common interface of HostBlockSolver and CudaBlockSolver: the resident engine for many
// right-hand sides at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solvers/solver.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// How the columns of a block work together.
//   lockstep  each column does the iterations of its own solve
//   block_cg  all columns search in one space (methods/block_cg.hpp): fewer iterations, of which
//             each costs more. Method::cg on the host only
enum class BlockForm { lockstep, block_cg };

// Solves A X = B. All columns do the same part of the method at the same time, so that one product,
// one pass over the vectors and one sum over the processes serve them all. A column that has ended
// leaves the block, and the others are moved together.
//
// A solve that was stopped leaves the current iterates in X. It cannot go on as a solve of Solver
// can: the next solve begins anew from X.
class BlockSolver {
 public:
  virtual ~BlockSolver() = default;
  BlockSolver() = default;
  BlockSolver(const BlockSolver&) = delete;
  BlockSolver& operator=(const BlockSolver&) = delete;

  // Solves A x_j = b_j by `rule` for each column j of B and X, which are this process's rows in the
  // caller's row order and in host memory, have the same width, and may have any layout. X holds
  // the initial guesses, which are not read with `zero_guess`, and becomes the solutions. The
  // result has one element per column. `observers` is empty or has one observer per column, to
  // which no iterate is shown. The verdict of an observer must be the same on every process. `atol`
  // is empty or has one value per column, which takes the place of rule.atol.
  //
  // Throws Error{internal} where the sizes of B, X, `observers` and `atol` disagree,
  // Error{resource} where the memory for the block cannot be had, and Error{usage} for a rule that
  // an inexact product does not allow (require_norm()). Collective over the system's processes.
  virtual std::vector<SolveResult> solve(MultiVector<const double> b, MultiVector<double> x,
                                         bool zero_guess, const Tolerances& rule,
                                         std::span<const IterationObserver> observers = {},
                                         std::span<const double> atol = {}) = 0;

  // The bytes that this process's vectors take during a solve of `width` columns, beside the
  // caller's B and X, in the memory where the loop runs. The solver keeps the memory of the widest
  // solve.
  virtual std::int64_t bytes(std::int64_t width) const = 0;

  // Prepares the preconditioner anew, as Solver::renew() does.
  virtual void renew(const PreconditionerSpec& spec) = 0;
  // As Solver::weigh_rows() does.
  virtual void weigh_rows(const RowScale& scale) = 0;
  virtual Variant variant() const = 0;
  virtual const PreparedPreconditioner& preconditioner() const = 0;
};

// Throws Error{internal} where the arguments of BlockSolver::solve() do not fit together, or B does
// not have `rows` rows.
void require_block(std::int64_t rows, MultiVector<const double> b, MultiVector<const double> x,
                   std::size_t observers, std::size_t tolerances);

}  // namespace trireme::solvers
