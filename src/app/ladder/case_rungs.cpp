// SPDX-License-Identifier: BSD-3-Clause
#include "app/ladder/case_rungs.hpp"

namespace trireme {

std::vector<Rung> rungs_for(const Case& c, const MatrixLook& matrix) {
  const SolverSpec& asked = c.solver;
  // Mixed precision has no loop of PETSc's.
  const bool resident = asked.engine == Engine::resident || c.names_precision(Precision::mixed);
  return rungs_for(RungRequest{.preconditioner = asked.preconditioner,
                               .scaling = asked.scaling,
                               .resident_only = resident,
                               .names_factors = asked.names_factors()},
                   matrix);
}

Case case_of(const Case& asked, const Rung& rung) {
  Case c = asked;
  c.solver.method = rung.method;
  c.solver.preconditioner = rung.preconditioner;
  if (rung.scaling != Scaling::none) c.solver.scaling = rung.scaling;
  const bool names_restart = asked.solver.restart != SolverSpec().restart;
  if (rung.restart > 0 && !names_restart) c.solver.restart = rung.restart;
  return c;
}

}  // namespace trireme
