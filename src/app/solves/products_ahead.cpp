// SPDX-License-Identifier: BSD-3-Clause
// Iterations times products of an iteration.
#include "app/solves/products_ahead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace trireme {
namespace {

constexpr std::int64_t kIterations = 300, kIterationsOfMultigrid = 15;
constexpr std::int64_t kProductsOfForeignCycle = 4;  // two steps of a smoother before and after

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Each of them also applies the preconditioner as often.
std::int64_t products_ahead_per_iteration(std::string_view method) {
  constexpr std::array<std::string_view, 7> kTwice{"bicgstab", "bcgs",  "fbcgs", "bicg",
                                                   "cgs",      "tfqmr", "cgne"};
  return is_one_of(method, kTwice) ? 2 : 1;
}

}  // namespace

ProductsAhead products_of_a_solve(const SolverSpec& solver, std::optional<std::int64_t> earlier) {
  constexpr std::array<std::string_view, 3> kForeign{"gamg", "hypre", "ml"};
  const bool own = solver.preconditioner == "multigrid";
  const bool multigrid = own || is_one_of(solver.preconditioner, kForeign);
  // The first smoothing begins with zero, which saves a product; the residual takes one.
  const std::int64_t cycle =
      own ? 2 * solver.multigrid.degree : (multigrid ? kProductsOfForeignCycle : 0);
  const std::int64_t products = products_ahead_per_iteration(solver.method) * (1 + cycle);
  const std::string each = products == 1 ? "" : fmt::format(", with {} products each", products);

  if (solver.method == "preonly") return {1, "a direct solver takes no iterations"};
  std::int64_t iterations = multigrid ? kIterationsOfMultigrid : kIterations;
  std::string why = multigrid
                        ? fmt::format("{} iterations per solve are assumed with {}{}", iterations,
                                      solver.preconditioner, each)
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
