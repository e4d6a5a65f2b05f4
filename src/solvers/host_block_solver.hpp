// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on the host for many right-hand sides at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solvers/block_solver.hpp"
#include "solvers/host_solver.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// In lockstep, each column has its own scalars, and its iteration is that of HostSolver. A column's
// sums are added in an order that depends on the number of rows only. Where the kernel
// gives a column the same product at every width, a column therefore has the same bits whatever
// columns are beside it, and whatever the number of threads is. HostSolver adds sums in another
// order, so that the two agree within rounding.
class HostBlockSolver final : public BlockSolver {
 public:
  // Throws what the constructor of HostSolver throws, and Error{usage} for block_cg with another
  // method or with a system that is inexact. block_cg has no variants. Collective over the system's
  // processes. `system` must outlive the solver.
  HostBlockSolver(HostSystem& system, Method method, Variant variant,
                  const PreconditionerSpec& spec, BlockForm form = BlockForm::lockstep,
                  const MethodOptions& options = {});
  ~HostBlockSolver() override;

  std::vector<SolveResult> solve(MultiVector<const double> b, MultiVector<double> x,
                                 bool zero_guess, const Tolerances& rule,
                                 std::span<const IterationObserver> observers = {},
                                 std::span<const double> atol = {}) override;
  std::int64_t bytes(std::int64_t width) const override;
  void renew(const PreconditionerSpec& spec) override;
  void weigh_rows(const RowScale& scale) override;
  Variant variant() const override;
  const PreparedPreconditioner& preconditioner() const override;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
