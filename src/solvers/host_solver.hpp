// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "solvers/solver.hpp"

namespace trireme::solvers {

// A square matrix of which this process holds `rows()` rows.
class HostSystem {
 public:
  virtual ~HostSystem() = default;
  virtual std::int64_t rows() const = 0;
  // y = A x, this process's part of both.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  // Whether multiply() is by a matrix near A only, such as A with its values in FP32.
  virtual bool inexact() const { return false; }
  // Where inexact(): what rounding took from the sum of each row, A 1 - A32 1, rows() long.
  virtual std::span<const float> row_defect() const { return {}; }
  // y = A x by A itself: residuals are corrected from this product.
  virtual void multiply_exactly(std::span<const double> x, std::span<double> y) { multiply(x, y); }
  // Adds up over the processes; the result is the same on each.
  virtual void sum(std::span<double> /*values*/) {}
  virtual int processes() const { return 1; }
};

class HostSolver : public Solver {
 public:
  // Throws Error{input} for a block that cannot be inverted, Error{usage} for a spec that makes no
  // sense. Collective over the system's processes. `system` outlives the solver.
  HostSolver(HostSystem& system, Method method, Variant variant, const PreconditionerSpec& spec);
  ~HostSolver() override;
  SolveResult solve(const SolveVectors& vectors, const Tolerances& rule,
                    const IterationObserver& observer = {}) override;
  StoppedSolve stopped() const override;
  void go_on(const StoppedSolve& stopped) override;
  Variant variant() const override;
  const PreparedPreconditioner& preconditioner() const override;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
