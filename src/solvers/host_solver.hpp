// SPDX-License-Identifier: BSD-3-Clause
// Trireme's own CG and BiCGSTAB for a system on the host: what a caller needs to know.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/array.hpp"
#include "solvers/preconditioners/preconditioner.hpp"
#include "solvers/preconditioners/preconditioner_setup.hpp"
#include "solvers/state.hpp"
#include "solvers/stopped_solve.hpp"

namespace trireme::solvers {

enum class Method { cg, bicgstab };
// classic: fewest values moved. single_reduction: one point of global sums an iteration (CG only).
enum class Variant { automatic, classic, single_reduction };

// A square matrix of which this process holds `rows()` rows.
class HostSystem {
 public:
  virtual ~HostSystem() = default;
  virtual std::int64_t rows() const = 0;
  // y = A x, this process's part of both.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  // Where multiply() is by a matrix near A only, such as A's values in FP32: the product by A, from
  // which residuals are corrected.
  virtual bool inexact() const { return false; }
  // and what multiply()'s matrix lacks in the sum of each row, rows() long: A 1 - A32 1.
  virtual std::span<const float> row_defect() const { return {}; }
  virtual void multiply_exactly(std::span<const double> x, std::span<double> y) { multiply(x, y); }
  // Adds up over the processes, the same result on each.
  virtual void sum(std::span<double> /*values*/) {}
  virtual int processes() const { return 1; }
};

// The iterate that goes with a norm: x + step * direction.
struct Iterate {
  std::span<const double> x;
  std::span<const double> direction;
  double step = 0;
};

// Hears of each iteration: state.iterations and state.norm, by the recurrence.
struct IterationObserver {
  // May end the loop by returning a reason (a convergence test of the caller's own).
  std::function<Reason(const State& state, const Iterate& iterate)> iteration;
  std::function<bool()> stop;  // polled; true ends the solve with Reason::interrupted

  bool stop_requested() const { return stop && stop(); }
};

struct SolveVectors {
  std::span<const double> b;
  std::span<double> x;  // the initial guess, and the solution
  bool zero_guess = true;
};

// Which of a solver's work vectors hold the directions of a StoppedSolve, in that order: of
// r z p q s, and of r r0 p p^ v s^ t.
std::span<const int> places_of_directions(Method method);
// Throws Error{internal} unless there are so many directions of so many rows.
void require_directions(const StoppedSolve& stopped, std::size_t vectors, std::int64_t rows);

// Throws Error{usage} for a rule by which an inexact product could not be corrected.
void require_norm(const Tolerances& rule);

struct SolveResult {
  Reason reason = Reason::running;
  std::int64_t iterations = 0;
  double norm = 0;  // of b - A x where convergence was verified, else by the recurrence
  std::int32_t replacements = 0;  // of the recurrence residual by b - A x
  bool stagnated = false;         // the breakdown is that x is as good as the arithmetic allows
  // An inexact product that led nowhere: the iteration from which on the exact one was used, or -1.
  std::int64_t exact_from = -1;
  Variant variant = Variant::classic;
};

// Keeps work vectors and the preconditioner between solves with the same matrix.
//
// A solve that ended as interrupted or at the iteration limit has left in x the solution so far,
// and stopped() gives the rest of what it takes to go on: a solver for the same matrix and the same
// preconditioner is told so by go_on(), and then its solve(), with that x, does the iterations that
// the first would have done. No vector beside x and these travels, and the loops know nothing of
// it: b - A x takes the place of r, and the search goes on in the direction that was next.
class HostSolver {
 public:
  // Throws Error{input} for a block that cannot be inverted, Error{usage} for a spec that makes no
  // sense. Collective over the system's processes.
  HostSolver(HostSystem& system, Method method, Variant variant, const PreconditionerSpec& spec);
  SolveResult solve(const SolveVectors& problem, const Tolerances& rule,
                    const IterationObserver& observer = {});
  StoppedSolve stopped() const;             // of the last solve, of which the above holds
  void go_on(const StoppedSolve& stopped);  // the next solve, and only that
  const Preconditioner& preconditioner() const { return preconditioner_; }
  Variant variant() const { return variant_; }

 private:
  double* vector(int k) { return work_.data() + k * stride_; }

  HostSystem& system_;
  Method method_;
  Variant variant_;
  PreparedPreconditioner prepared_;
  Preconditioner preconditioner_;
  Array<double> work_;
  std::int64_t stride_;
  StoppedSolve last_;                     // without its directions: they are work vectors
  std::optional<StoppedSolve> going_on_;  // likewise: the next solve goes on from it
};

}  // namespace trireme::solvers
