// SPDX-License-Identifier: BSD-3-Clause
// Iterations times products of an iteration.
#include "app/solves/products_ahead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "petsc/pc/petsc_preconditioners.hpp"
#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kIterations = 300, kIterationsOfMultigrid = 15;
constexpr std::int64_t kProductsOfForeignCycle = 4;  // two steps of a smoother before and after

// Each of them also applies the preconditioner as often.
std::int64_t products_ahead_per_iteration(std::string_view method) {
  if (const auto own = solvers::method_named(method)) return own->info.products;
  constexpr std::array kTwice{KSPFBCGS, KSPBICG, KSPCGS, KSPTFQMR, KSPCGNE};  // of PETSc's
  return std::ranges::find(kTwice, method) == kTwice.end() ? 1 : 2;
}

}  // namespace

ProductsAhead products_of_a_solve(const SolverSpec& solver, std::optional<std::int64_t> earlier) {
  const AnyPreconditioner preconditioner = solver.first_preconditioner();
  const bool own = preconditioner.is_multigrid();
  const PetscPreconditioner* const petscs = petsc_preconditioner(preconditioner);
  const bool multigrid = own || (petscs && petscs->multigrid);
  // The first smoothing begins with zero, which saves a product; the residual takes one.
  const std::int64_t cycle =
      own ? 2 * solver.multigrid.degree : (multigrid ? kProductsOfForeignCycle : 0);
  const std::int64_t products = products_ahead_per_iteration(solver.first_method()) * (1 + cycle);
  const std::string each = products == 1 ? "" : fmt::format(", with {} products each", products);

  if (solver.method == KSPPREONLY || solver.is_direct())
    return {1, "a direct solver takes no iterations"};
  std::int64_t iterations = multigrid ? kIterationsOfMultigrid : kIterations;
  std::string why = multigrid
                        ? fmt::format("{} iterations per solve are assumed with {}{}", iterations,
                                      preconditioner.name(), each)
                        : fmt::format("{} iterations per solve are assumed{}", iterations, each);
  if (earlier) {
    iterations = *earlier;
    why = fmt::format("an earlier run took {} iterations{}", iterations, each);
  }
  if (solver.max_iterations < iterations) {
    iterations = solver.max_iterations;
    why = fmt::format("max_iterations allows {} iterations per solve{}", iterations, each);
  }
  return {std::max<std::int64_t>(iterations * products, 1), why};
}

}  // namespace trireme
