// SPDX-License-Identifier: BSD-3-Clause
// Measures by the plain product, then solves again from where the loop has ended.
#include "app/solves/strategies/meet_the_claim.hpp"

#include <utility>

#include "petsc/vectors.hpp"

namespace trireme {
namespace {

double excess_of(const SolveParts& parts, const ScaledSystem& system, Vec x) {
  const KspSolver& solver = *parts.plan.solver;
  TrueResidual residual{.unit = system.unit,
                        .reference = solver.reference(system.unit, system.first_norm)};
  residual.rows =
      parts.context.plain.residual(system.b.values(), system.from_loop(local_values(x)));
  residual.norm = residual.rows.norm;
  return excess(solver, residual);
}

// The same solve from the present x, which is counted on.
void go_on(SolveParts& parts, const ScaledSystem& system, Vec b, Vec x, KspResult& result) {
  KspSolver& solver = *parts.plan.solver;
  const std::int64_t uncounted = solver.engine() == Engine::resident ? 0 : result.iterations;
  solver.monitor(
      [&parts, uncounted, unit = system.loop().unit](std::int64_t iteration, double norm) {
        if (parts.on_iteration) parts.on_iteration(uncounted + iteration, relative(norm, unit));
      });
  solvers::StoppedSolve stopped;
  stopped.iterations = result.iterations;
  stopped.reference = solver.reference(system.loop().unit, system.loop().first_norm);
  stopped.new_space = true;
  solver.go_on(stopped);
  KspResult more = solver.solve(b, x, true);
  std::vector<double> norms = std::move(result.residuals);
  if (more.residuals.size() > 1)  // the first one is of the present x
    norms.insert(norms.end(), more.residuals.begin() + 1, more.residuals.end());
  more.residuals = std::move(norms);
  more.seconds += result.seconds;
  result = std::move(more);
}

}  // namespace

void meet_the_claim(SolveParts& parts, std::size_t k, const ScaledSystem& system, Vec b, Vec x,
                    KspResult& result) {
  if (!parts.context.scaling) return;
  KspSolver& solver = *parts.plan.solver;
  double part = 1;
  for (int times = 0; times < kMostTimesTighter && result.verdict.converged; ++times) {
    const auto tighter = tighter_part(part, excess_of(parts, system, x));
    if (!tighter) break;
    part = *tighter;
    solver.scale_tolerance(system.exponent, system.loop_norms(), part);
    go_on(parts, system, b, x, result);
  }
  if (part == 1) return;
  solver.scale_tolerance(system.exponent, system.loop_norms());
  if (result.can_go_on)
    parts.checkpointer.remember(k, solver.stopped(), result.residuals, system.loop().unit);
}

}  // namespace trireme
