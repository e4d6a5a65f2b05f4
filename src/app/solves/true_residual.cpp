// SPDX-License-Identifier: BSD-3-Clause
// From the residual to the verdict.
#include "app/solves/true_residual.hpp"

#include "app/solves/advice.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace trireme {
namespace {

constexpr int kPreconditionerFailed = -11;  // its name changes between releases of PETSc

}  // namespace

std::string about_rows(const Residual& residual, double unit) {
  return fmt::format(
      "with each row divided by its size, the residual is {:.1e}, and {:.1e} as it is; the worst "
      "row "
      "is {} (from 0), of size {:.1e}",
      *residual.of_rows, relative(residual.norm, unit), residual.worst_row, residual.worst_size);
}

bool rows_say_more(const Residual& residual, double unit) {
  constexpr double kMuchLarger = 10;
  return residual.of_rows && *residual.of_rows >= kMuchLarger * relative(residual.norm, unit);
}

double excess(const KspSolver& solver, const TrueResidual& residual) {
  return excess_of(residual.rows, target_norm(solver, residual.reference), residual.unit,
                   solver.row_test());
}

void confirm(Verdict& verdict, const KspSolver& solver, const TrueResidual& residual) {
  const std::size_t at = verdict.text.rfind('(');  // PETSc's name of the reason
  const std::string name = at == std::string::npos ? "" : verdict.text.substr(at);
  const auto becomes = [&](ExitCode code, const std::string& text) {
    verdict.converged = false;
    verdict.exit_code = code;
    verdict.text = text;
  };
  if (static_cast<int>(verdict.reason) == kPreconditionerFailed) return;  // x is NaN by intent
  if (residual.overflows)
    return becomes(ExitCode::breakdown,
                   "breakdown: the solution exceeds the largest double; scale the system " + name);
  if (!std::isfinite(residual.norm))
    return becomes(ExitCode::breakdown, "breakdown: b - A x is NaN or infinite " + name);
  const solvers::RowTest rows = solver.row_test();
  if (!verdict.converged) {
    if (rows != solvers::RowTest::none && rows_say_more(residual.rows, residual.unit))
      add_clause(verdict, "; " + about_rows(residual.rows, residual.unit));
    return;
  }
  const double target = target_norm(solver, residual.reference);
  const bool rows_are_small =
      rows == solvers::RowTest::none || !residual.rows.of_rows ||
      *residual.rows.of_rows <= kWithRounding * relative(target, residual.unit);
  const bool is_small = residual.norm <= kWithRounding * target ||
                        (rows == solvers::RowTest::only && residual.rows.of_rows && rows_are_small);
  if (is_small && rows_are_small) return;
  if (is_small)
    return becomes(ExitCode::not_converged,
                   fmt::format("not converged: {}; {:.3g} of b is asked for in both; "
                               "solver.norm: residual asks for less {}",
                               about_rows(residual.rows, residual.unit),
                               relative(target, residual.unit), name));
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
