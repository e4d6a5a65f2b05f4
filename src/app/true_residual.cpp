// SPDX-License-Identifier: BSD-3-Clause
// From the residual to the verdict.
#include "app/true_residual.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace trireme {

void confirm(Verdict& verdict, const KspSolver& solver, const TrueResidual& residual) {
  constexpr double kWithRounding = 1.02;
  const std::size_t at = verdict.text.rfind('(');  // PETSc's name of the reason
  const std::string name = at == std::string::npos ? "" : verdict.text.substr(at);
  const auto becomes = [&](ExitCode code, const std::string& text) {
    verdict.converged = false;
    verdict.exit_code = code;
    verdict.text = text;
  };
  if (residual.overflows)
    return becomes(ExitCode::breakdown,
                   "breakdown: the solution exceeds the largest double; scale the system " + name);
  if (!std::isfinite(residual.norm))
    return becomes(ExitCode::breakdown, "breakdown: b - A x is NaN or infinite " + name);
  if (!verdict.converged) return;
  const double target = std::max(solver.rtol() * residual.reference, solver.atol());
  if (residual.norm <= kWithRounding * target) return;
  if (residual.underflows)
    return becomes(
        ExitCode::breakdown,
        "breakdown: the solution is below the smallest normal double; scale the system " + name);
  if (residual.last_norm == 0)
    return becomes(ExitCode::breakdown,
                   "breakdown: the norms of the loop fell below the range of double; scale rows "
                   "and columns of the matrix " +
                       name);
  becomes(
      ExitCode::not_converged,
      fmt::format("not converged: the method reached its own tolerance {}, but the true "
                  "residual is {:.3g} of ||b|| where {:.3g} is asked for",
                  name, relative(residual.norm, residual.unit), relative(target, residual.unit)));
}

}  // namespace trireme
