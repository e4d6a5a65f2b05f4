// SPDX-License-Identifier: BSD-3-Clause
// Facts of the hierarchy into the plain data of a report, with smoother and cycle in words.
#include "app/multigrid_facts.hpp"

#include <fmt/format.h>

#include <cstddef>

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

// Replaces what the levels say about products on the host.
void take_device(const multigrid::CudaHierarchy& on_device, MultigridOutcome& outcome) {
  constexpr int kMeasuredProducts = 5;
  for (std::size_t l = 0; l < outcome.levels.size(); ++l) {
    const multigrid::CudaLevelFacts& fact = on_device.levels()[l];
    if (fact.lanes_of_a == 0) continue;
    outcome.levels[l].kernel =
        fmt::format("{} {} per row", fact.lanes_of_a, fact.lanes_of_a == 1 ? "lane" : "lanes");
    outcome.levels[l].product_us =
        on_device.measure_product_us(static_cast<int>(l), kMeasuredProducts);
  }
}

}  // namespace

MultigridOutcome outcome_of(MPI_Comm comm, const multigrid::Hierarchy& hierarchy,
                            const multigrid::CudaHierarchy* on_device) {
  MultigridOutcome outcome;
  for (const multigrid::LevelFacts& level : hierarchy.levels())
    outcome.levels.push_back({.rows = level.rows,
                              .nnz = level.nnz,
                              .replicated = level.replicated,
                              .kernel = level.kernel,
                              .precision = level.precision,
                              .product_us = level.product_us,
                              .spectral_radius = level.spectral_radius});
  if (on_device) take_device(*on_device, outcome);
  outcome.operator_complexity = hierarchy.operator_complexity();
  outcome.grid_complexity = hierarchy.grid_complexity();
  const multigrid::Options& options = hierarchy.options();
  outcome.cycle = options.cycle == multigrid::CycleKind::v ? "V-cycle" : "W-cycle";
  outcome.smoother = smoother_in_words(options);
  outcome.bytes = hierarchy.bytes();
  MPI_Allreduce(MPI_IN_PLACE, &outcome.bytes, 1, MPI_INT64_T, MPI_SUM, comm);
  const multigrid::SetUpFacts& s = hierarchy.set_up();
  outcome.set_up = {.strength = s.strength,
                    .aggregation = s.aggregation,
                    .prolongator = s.prolongator,
                    .products = s.products,
                    .distribution = s.distribution,
                    .kernels = s.kernels,
                    .smoothers = s.smoothers,
                    .coarsest = s.coarsest,
                    .total = s.total};
  outcome.remark = hierarchy.remark();
  return outcome;
}

}  // namespace trireme
