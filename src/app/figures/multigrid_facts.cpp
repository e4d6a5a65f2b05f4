// SPDX-License-Identifier: BSD-3-Clause
// Facts of the hierarchy into the plain data of a report, with smoother and cycle in words.
#include "app/figures/multigrid_facts.hpp"

#include <fmt/format.h>

namespace trireme {
namespace {

std::string smoother_in_words(const multigrid::Options& options) {
  const char* steps = options.degree == 1 ? "step" : "steps";
  switch (options.smoother) {
    case multigrid::Smoother::chebyshev:
      return fmt::format("Chebyshev polynomial of degree {}", options.degree);
    case multigrid::Smoother::jacobi:
      return fmt::format("{} {} of weighted Jacobi", options.degree, steps);
    case multigrid::Smoother::l1_jacobi:
      return fmt::format("{} {} of l1-Jacobi", options.degree, steps);
    case multigrid::Smoother::block_jacobi:
      return fmt::format("{} {} of block Jacobi", options.degree, steps);
  }
  return "";
}

}  // namespace

MultigridOutcome outcome_of(MPI_Comm comm, const multigrid::HierarchyFacts& facts) {
  MultigridOutcome outcome;
  for (const multigrid::LevelFacts& level : facts.levels)
    outcome.levels.push_back({.rows = level.rows,
                              .nnz = level.nnz,
                              .replicated = level.replicated,
                              .kernel = level.kernel,
                              .precision = level.precision,
                              .product_us = level.product_us,
                              .spectral_radius = level.spectral_radius,
                              .prolongator = level.prolongator});
  outcome.operator_complexity = operator_complexity(facts.levels);
  outcome.grid_complexity = grid_complexity(facts.levels);
  outcome.cycle = facts.options.cycle == multigrid::CycleKind::v ? "V-cycle" : "W-cycle";
  outcome.smoother = smoother_in_words(facts.options);
  outcome.bytes = facts.bytes;
  MPI_Allreduce(MPI_IN_PLACE, &outcome.bytes, 1, MPI_INT64_T, MPI_SUM, comm);
  const multigrid::SetUpFacts& s = facts.set_up;
  outcome.set_up = {.strength = s.strength,
                    .aggregation = s.aggregation,
                    .prolongator = s.prolongator,
                    .products = s.products,
                    .distribution = s.distribution,
                    .kernels = s.kernels,
                    .smoothers = s.smoothers,
                    .coarsest = s.coarsest,
                    .read = s.read,
                    .total = s.total};
  outcome.remark = facts.remark;
  if (const auto& read = facts.read)
    outcome.read = {
        .building_seconds = read->building, .saved_seconds = read->saved, .bytes = read->bytes};
  if (const auto& kept = facts.kept)
    outcome.kept = {.seconds = kept->seconds, .bytes = kept->bytes};
  return outcome;
}

}  // namespace trireme
