// SPDX-License-Identifier: BSD-3-Clause
// The order: what is cheapest per iteration comes first, complete factors last. A test compares it
// with the table of docs/running.md.
#include "planning/rungs.hpp"

#include <algorithm>
#include <utility>

#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

std::string name_of_method(solvers::Method method) {
  return std::string(solvers::info_of(method).name);
}

// What native methods do where complete factors are not to be had, or do not fit.
Rung equilibrated(solvers::Method method) {
  return {.method = name_of_method(method),
          .preconditioner = AnyPreconditioner(solvers::PreconditionerKind::none),
          .why = "rows and columns of one size serve where a diagonal does not",
          .scaling = Scaling::ruiz,
          .may_stand_still = true};
}

Rung long_cycles() {
  constexpr std::int64_t kLongCycle = 200;
  return {.method = name_of_method(solvers::Method::gmres),
          .preconditioner = std::nullopt,
          .why = "long cycles serve where short recurrences stand still",
          .scaling = Scaling::matching,
          .restart = kLongCycle};
}

Rung direct() {
  return {.method = std::string(kDirect),
          .preconditioner = std::nullopt,
          .why = "complete factors solve what no iteration does"};
}

Rung incomplete_factors() {
  return {.method = name_of_method(solvers::Method::bicgstab2),
          .preconditioner = AnyPreconditioner(solvers::PreconditionerKind::ilu),
          .why = "incomplete factors of a matched matrix serve where a diagonal does not",
          .scaling = Scaling::matching,
          .may_stand_still = true};
}

std::vector<Rung> for_symmetric(const MatrixLook& matrix) {
  using solvers::Method;
  if (matrix.all_positive() || matrix.all_negative())
    return {{.method = name_of_method(Method::cg),
             .preconditioner = std::nullopt,
             .why = "the matrix is " + in_short(matrix)},
            {.method = name_of_method(Method::minres),
             .preconditioner = std::nullopt,
             .why = "the matrix is indefinite, as CG has found",
             .serves = RungFor::indefinite},
            direct(),
            equilibrated(Method::minres)};
  return {{.method = name_of_method(Method::minres),
           .preconditioner = std::nullopt,
           .why = "the matrix is " + in_short(matrix)},
          equilibrated(Method::minres),
          incomplete_factors(),
          direct()};
}

std::vector<Rung> for_nonsymmetric(const MatrixLook& matrix) {
  using solvers::Method;
  return {{.method = name_of_method(Method::bicgstab),
           .preconditioner = std::nullopt,
           .why = "the matrix is " + in_short(matrix),
           .may_stand_still = true},
          {.method = name_of_method(Method::bicgstab2),
           .preconditioner = std::nullopt,
           .why = "a matching brings large entries to the diagonal, and polynomials of degree 2 "
                  "serve where those of degree 1 stand still",
           .scaling = Scaling::matching,
           .may_stand_still = true},
          incomplete_factors(),
          direct(),
          equilibrated(Method::bicgstab2),
          long_cycles()};
}

bool needs_petscs_loop(const Rung& rung) {
  return rung.is_direct() || (rung.preconditioner && !rung.preconditioner->own());
}

}  // namespace

std::vector<Rung> rungs_for(const RungRequest& asked, const MatrixLook& matrix) {
  if (asked.names_factors)
    return {{.method = std::string(kDirect),
             .preconditioner = asked.preconditioner,
             .why = "the case names complete factors"}};
  std::vector<Rung> rungs = matrix.symmetric() ? for_symmetric(matrix) : for_nonsymmetric(matrix);
  const bool fixed = asked.preconditioner.has_value();
  std::vector<Rung> kept;
  for (Rung& rung : rungs) {
    if (fixed && rung.is_direct()) continue;
    if (fixed) rung.preconditioner = asked.preconditioner;
    rung.scaling = asked.scaling.value_or(rung.scaling);
    if (asked.resident_only && needs_petscs_loop(rung)) continue;
    if (std::ranges::find(kept, rung) == kept.end()) kept.push_back(std::move(rung));
  }
  return kept;
}

}  // namespace trireme
