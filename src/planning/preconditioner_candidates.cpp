// SPDX-License-Identifier: BSD-3-Clause
#include "planning/preconditioner_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "parallel/collective.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/list.hpp"

namespace trireme {
namespace {

using solvers::ExpectedCost;
using solvers::ExpectedWork;
using solvers::PreconditionerInfo;
using solvers::PreconditionerKind;

Array<double> diagonal_of(const DistributedMatrix& matrix) {
  Array<double> diagonal(matrix.local_rows());
  matrix.diagonal(diagonal);
  return diagonal;
}

// Whether all entries of the diagonal are positive, or all are negative. Collective.
bool diagonal_has_one_sign(const DistributedMatrix& matrix) {
  const Array<double> diagonal = diagonal_of(matrix);
  const bool not_positive = std::ranges::any_of(diagonal, [](double d) { return !(d > 0); });
  const bool not_negative = std::ranges::any_of(diagonal, [](double d) { return !(d < 0); });
  return !any_rank(matrix.comm, not_positive) || !any_rank(matrix.comm, not_negative);
}

// Why a preconditioner is no candidate; empty: it is one. Collective.
std::string why_not_tried(const PreconditionerInfo& info, const DistributedMatrix& matrix,
                          const RunningSolver& running) {
  const auto named = solvers::method_named(running.method);
  if (info.definite && !diagonal_has_one_sign(matrix))
    return "not tried: the diagonal has no one sign, so that the matrix is not definite";
  if (info.definite && !(named && named->method == solvers::Method::cg))
    return fmt::format("not tried: with {} the matrix need not be symmetric and definite",
                       running.method);
  if (info.symmetric && !(named && named->info.symmetric))
    return "not tried: it is for symmetric matrices";
  if (info.nonsymmetric && named && named->info.symmetric)
    return fmt::format("not tried: {} needs a symmetric preconditioner", running.method);
  if (info.may_be_indefinite && named && named->info.symmetric)
    return fmt::format("not tried: {} needs a definite preconditioner", running.method);
  if (!info.row_order_is_free && running.in_order)
    return "not tried: it needs the rows in the order of the file";
  return "";
}

std::optional<ExpectedCost> expected_cost(const AnyPreconditioner& preconditioner) {
  const auto* const own = preconditioner.own();
  return own ? own->info.expected : std::nullopt;
}

}  // namespace

AnyPreconditioner first_preconditioner(const DistributedMatrix& matrix) {
  const Array<double> diagonal = diagonal_of(matrix);
  const bool zero = std::ranges::find(diagonal, 0.0) != diagonal.end();
  return AnyPreconditioner(any_rank(matrix.comm, zero) ? PreconditionerKind::none
                                                       : PreconditionerKind::jacobi);
}

PreconditionerCandidates preconditioner_candidates(const DistributedMatrix& matrix,
                                                   const RunningSolver& running) {
  PreconditionerCandidates all{.preconditioners = {running.preconditioner}, .options = {{}}};
  solvers::for_each_preconditioner([&](PreconditionerKind kind, auto m) {
    using M = typename decltype(m)::type;
    const PreconditionerInfo& info = M::info;
    if (!info.expected || all.preconditioners.front().is(kind)) return;
    all.preconditioners.emplace_back(kind);
    all.options.push_back(
        {.rate = info.expected->rate,
         .rate_of_first = info.expected->rate_of_jacobi,
         .failure = M::pointwise ? "not tried: Jacobi's set-up costs nothing, and its scaling is "
                                   "part of a pass that either of them makes"
                                 : why_not_tried(info, matrix, running)});
  });
  return all;
}

bool can_be_found(const AnyPreconditioner& preconditioner) {
  const auto cost = expected_cost(preconditioner);
  return cost && cost->set_up_found;
}

void predict_costs(PreconditionerRule& rule, std::span<const AnyPreconditioner> candidates,
                   double product_seconds, bool on_gpu, bool found) {
  const double iteration = rule.options()[0].iteration_seconds;
  const double product = std::min(product_seconds, iteration);
  const auto seconds = [&](const ExpectedWork& work) {
    return work.seconds + work.products * product + work.passes * (iteration - product);
  };
  for (std::size_t k = 1; k < candidates.size(); ++k) {
    const ExpectedCost cost = *expected_cost(candidates[k]);
    const ExpectedWork set_up = on_gpu  ? cost.set_up_on_gpu.value_or(cost.set_up)
                                : found ? cost.set_up_found.value_or(cost.set_up)
                                        : cost.set_up;
    const ExpectedWork more =
        on_gpu ? cost.iteration_on_gpu.value_or(cost.iteration) : cost.iteration;
    rule.predict(k, seconds(set_up), iteration + seconds(more));
  }
}

}  // namespace trireme
