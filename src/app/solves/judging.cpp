// SPDX-License-Identifier: BSD-3-Clause
// The true residual, and why a solve has failed or what to try.
#include "app/solves/judging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/solves/constant_nullspace.hpp"
#include "app/solves/nullspace.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// Scales x back to the caller's system. What is judged is that x, rounded as it is.
TrueResidual judged(const SolveParts& parts, const ScaledSystem& system, Array<double>& x) {
  PlainProduct& plain = parts.context.plain;
  TrueResidual residual{.unit = system.unit,
                        .reference = parts.plan.solver->reference(system.unit, system.first_norm)};
  const auto measure = [&](std::span<const double> of) {
    residual.rows = plain.residual(system.b.values(), of);
    residual.norm = residual.rows.norm;
  };
  measure(x);
  if (parts.context.scaling && !std::isfinite(residual.norm))
    residual.overflows = any_rank(parts.context.matrix->comm,
                                  std::ranges::any_of(x, [](double v) { return std::isinf(v); }));
  if (system.of_x == 0 || residual.overflows) return residual;
  const double unscaled = residual.norm;
  x = times_power_of_two(x, system.of_x);
  measure(times_power_of_two(x, -system.of_x));
  residual.overflows = std::isfinite(unscaled) && !std::isfinite(residual.norm);
  residual.underflows = system.of_x < 0 && unscaled < 0.5 * residual.norm;
  return residual;
}

// Adds to the verdict of a solve that has failed why it has, or what to try.
void explain(SolveParts& parts, KspResult& result, const ScaledSystem& system,
             const TrueResidual& residual) {
  constexpr int kStoppedAtLimit = -3, kNotDefinite = -10, kNoPreconditioner = -11;
  // A search takes no longer than the solve that failed, which was long enough to tell a residual
  // that stands still.
  constexpr std::int64_t kLeastIterations = 50, kLeastSearch = 200, kMostSearch = 2000;
  constexpr double kLeastSeconds = 0.1, kMostSeconds = 10;
  PlainProduct& plain = parts.context.plain;
  const DistributedMatrix& matrix = plain.matrix();
  const KspSolver& solver = *parts.plan.solver;
  const double target = target_norm(solver, residual.reference);
  const std::span<const double> b = system.b.values();
  if (explain_constant_nullspace(result.verdict, matrix, plain, b, target)) return;
  const int reason = static_cast<int>(result.verdict.reason);
  if (reason > kStoppedAtLimit || reason < kNoPreconditioner) return;
  const MatrixLook& look = look_at(matrix);
  if (look.symmetric() && reason >= kNotDefinite &&
      (reason < kStoppedAtLimit || result.iterations >= kLeastIterations) &&
      has_room_for_search(matrix)) {
    const std::string why = find_null_vector(
        matrix, plain, b, target,
        {.max_iterations = std::clamp(2 * result.iterations, kLeastSearch, kMostSearch),
         .max_seconds = std::clamp(result.seconds, kLeastSeconds, kMostSeconds)});
    if (!why.empty()) return add_clause(result.verdict, why);
  }
  // The text says what to do.
  if (result.facts.stagnated || solver.method() == kDirect) return;
  FailedSolve failed{.reason = reason,
                     .method = solver.method(),
                     .preconditioner = solver.preconditioner(),
                     .block_preconditioner = solver.block_preconditioner(),
                     .max_iterations = solver.max_iterations(),
                     .restart = parts.context.spec.solver.restart,
                     .resident = solver.engine() == Engine::resident,
                     .divergence_bound = solver.divergence_bound()};
  failed.names_preconditioner = parts.context.spec.solver.preconditioner.has_value();
  failed.climbs = parts.context.climbs;
  failed.tried = parts.context.tried;
  if (parts.preconditioning) failed.left = parts.preconditioning->left();
  add_clause(result.verdict, advice(failed, look));
}

// The x of a solve that has failed is the guess, where the guess has a smaller residual. Methods
// whose residuals jump keep no better x on their way, which would cost a copy at every improvement.
// Collective.
void keep_better_guess(const SolveParts& parts, KspResult& result, const ScaledSystem& system,
                       Array<double>& x, TrueResidual& residual) {
  const double of_guess = system.first_norm;  // 0: not known
  if (!(of_guess > 0) || residual.norm <= of_guess) return;
  const double of_x = relative(residual.norm, system.unit);
  const std::span<const double> guess = system.x0.values();
  x.assign(x.size(), 0.0);
  std::ranges::copy(guess, x.begin());
  residual = judged(parts, system, x);
  if (!std::isfinite(of_x)) return;
  add_clause(
      result.verdict,
      fmt::format("; x is the initial guess, whose residual is {:.2g} of ||b||, after {:.2g}",
                  relative(residual.norm, system.unit), of_x));
}

// Where the solution is known. Collective.
void note_error(SolveParts& parts, std::size_t k, std::span<const double> x) {
  const SolveContext& context = parts.context;
  if (!context.knows_solution()) return;
  const Array<double> ones(context.steps ? x.size() : 0, 1.0);
  const Array<double>& exact = context.steps ? ones : context.problem.x_exact[k];
  Array<double> difference(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - exact[i];
  parts.records.errors[k] = relative(context.plain.norm(difference), context.plain.norm(exact));
}

// What the report says of one of several right-hand sides.
void note_column(SolveParts& parts, std::size_t k, const Verdict& verdict,
                 const TrueResidual& residual) {
  SolveRecords& records = parts.records;
  records.columns[k] = {.converged = verdict.converged,
                        .reason = verdict.text,
                        .relative_residual = records.residuals[k],
                        .relative_row_residual = residual.rows.of_rows};
  if (parts.context.knows_solution()) records.columns[k].relative_error = records.errors[k];
}

}  // namespace

void note_solve(SolveParts& parts, std::size_t k, const ScaledSystem& system, KspResult result,
                Array<double> x) {
  SolveRecords& records = parts.records;
  TrueResidual residual = judged(parts, system, x);
  if (!result.residuals.empty()) residual.last_norm = result.residuals.back();
  confirm(result.verdict, *parts.plan.solver, residual);
  if (!result.verdict.converged) keep_better_guess(parts, result, system, x, residual);
  records.add_rows(residual);
  if (!result.verdict.converged && !result.facts.stopped && parts.context.last)
    explain(parts, result, system, residual);
  note_error(parts, k, x);
  const Verdict verdict = result.verdict;
  parts.solutions[k] = std::move(x);
  record_solve(parts, k, std::move(result), relative(residual.norm, system.unit),
               system.loop().unit);
  records.add_exponent(system.exponent);
  if (records.columns.empty()) return;
  note_column(parts, k, verdict, residual);
  records.columns[k].iterations = records.iterations;
  records.columns[k].history = records.history;
}

void record_solve(SolveParts& parts, std::size_t k, KspResult&& result, double relative_residual,
                  double unit) {
  parts.checkpointer.solved(k, result);
  ++parts.done;
  parts.records.add(k, std::move(result), relative_residual, unit);
}

bool take_over(SolveParts& parts, std::size_t k) {
  const Array<double>& x = parts.solutions[k];
  SolveRecords& records = parts.records;
  PlainProduct& plain = parts.context.plain;
  KspSolver& solver = *parts.plan.solver;
  ScaledSystem system(parts.context, k, x);
  system.measure(plain, false);
  TrueResidual residual{.unit = system.unit, .reference = system.unit};
  residual.rows = plain.residual(system.b.values(), system.x0.values());
  residual.norm = residual.rows.norm;
  solver.scale_tolerance(system.exponent);
  Verdict verdict{.converged = true,
                  .exit_code = ExitCode::converged,
                  .text = "converged: in an earlier run",
                  .reason = KSP_CONVERGED_RTOL};
  confirm(verdict, solver, residual);
  if (!verdict.converged) {
    records.again.push_back(k + 1);
    parts.checkpointer.forget(k);
    return false;
  }
  if (records.each_seconds.empty())
    records.verdict = verdict;  // the run's, where nothing is left to be solved
  records.add_rows(residual);
  records.residuals[k] = relative(residual.norm, system.unit);
  note_error(parts, k, x);
  if (!records.columns.empty()) note_column(parts, k, verdict, residual);
  ++parts.done;
  return true;
}

}  // namespace trireme
