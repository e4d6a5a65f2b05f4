// SPDX-License-Identifier: BSD-3-Clause
// How Solves judges solutions, also those of an earlier run.
#include <algorithm>
#include <cmath>

#include "app/solves/constant_nullspace.hpp"
#include "app/solves/nullspace.hpp"
#include "app/solves/solves.hpp"

namespace trireme {

// Scales x back to the caller's system. What is judged is that x, rounded as it is.
TrueResidual Solves::judged(const ScaledSystem& system, Array<double>& x) const {
  PlainProduct& plain = context_.plain;
  const std::span<const double> b = system.b.values();
  TrueResidual residual{.unit = system.unit,
                        .reference = plan_.solver->reference(system.unit, system.first_norm)};
  const auto measure = [&](std::span<const double> of) {
    residual.rows = plain.residual(b, of);
    residual.norm = residual.rows.norm;
  };
  measure(x);
  if (system.of_x == 0) return residual;
  const double unscaled = residual.norm;
  x = times_power_of_two(x, system.of_x);
  measure(times_power_of_two(x, -system.of_x));
  residual.overflows = std::isfinite(unscaled) && !std::isfinite(residual.norm);
  residual.underflows = system.of_x < 0 && unscaled < 0.5 * residual.norm;
  return residual;
}

void Solves::explain(KspResult& result, const ScaledSystem& system, const TrueResidual& residual) {
  constexpr int kAtLimit = -3, kIndefiniteMatrix = -10;
  // A search takes no longer than the solve that failed, which was long enough to tell a residual
  // that stands still.
  constexpr std::int64_t kLeastIterations = 50, kLeastSearch = 200, kMostSearch = 2000;
  constexpr double kLeastSeconds = 0.1, kMostSeconds = 10;
  const DistributedMatrix& matrix = *context_.matrix;
  KspSolver& solver = *plan_.solver;
  const double target = std::max(solver.rtol() * residual.reference, solver.atol());
  const std::span<const double> b = system.b.values();
  if (explain_constant_nullspace(result.verdict, matrix, context_.plain, b, target)) return;
  const int reason = static_cast<int>(result.verdict.reason);
  if (reason > kAtLimit || reason < kIndefiniteMatrix) return;
  if (!traits_for_advice_) traits_for_advice_ = traits_for_advice(matrix);
  if (traits_for_advice_->symmetric &&
      (reason < kAtLimit || result.iterations >= kLeastIterations) && has_room_for_search(matrix)) {
    const std::string why = find_null_vector(
        matrix, context_.plain, b, target,
        {.max_iterations = std::clamp(2 * result.iterations, kLeastSearch, kMostSearch),
         .max_seconds = std::clamp(result.seconds, kLeastSeconds, kMostSeconds)});
    if (!why.empty()) return add_clause(result.verdict, why);
  }
  if (result.facts.stagnated) return;  // the text says what to do
  FailedSolve failed{.reason = reason,
                     .method = solver.method(),
                     .preconditioner = solver.preconditioner(),
                     .block_preconditioner = solver.block_preconditioner(),
                     .max_iterations = solver.max_iterations(),
                     .divergence_bound = solver.divergence_bound()};
  if (preconditioning_) failed.left = preconditioning_->left();
  add_clause(result.verdict, advice(failed, *traits_for_advice_));
}

// What an earlier run has solved is judged as a solve of this run is, and solved again where it
// falls short.
bool Solves::take_over(std::size_t k) {
  const Array<double>& x = solutions_[k];
  ScaledSystem system(*this, k, x);
  system.measure(*this, false);
  TrueResidual residual{.unit = system.unit, .reference = system.unit};
  residual.rows = context_.plain.residual(system.b.values(), system.x0.values());
  residual.norm = residual.rows.norm;
  plan_.solver->scale_tolerance(system.exponent);
  Verdict verdict{.converged = true,
                  .exit_code = ExitCode::converged,
                  .text = "converged: in an earlier run",
                  .reason = KSP_CONVERGED_RTOL};
  confirm(verdict, *plan_.solver, residual);
  if (!verdict.converged) {
    records_.again.push_back(k + 1);
    checkpointer_->forget(k);
    return false;
  }
  if (records_.each_seconds.empty())
    records_.verdict = verdict;  // the run's, where nothing is left to be solved
  records_.add_rows(residual);
  records_.residuals[k] = relative(residual.norm, system.unit);
  if (!context_.problem.x_exact.empty()) records_.errors[k] = error(x, context_.problem.x_exact[k]);
  if (!records_.columns.empty()) {
    records_.columns[k] = {.converged = true,
                           .reason = verdict.text,
                           .relative_residual = records_.residuals[k],
                           .relative_row_residual = residual.rows.of_rows};
    if (!context_.problem.x_exact.empty()) records_.columns[k].relative_error = records_.errors[k];
  }
  ++count_;
  return true;
}

}  // namespace trireme
