// SPDX-License-Identifier: BSD-3-Clause
// The incomplete factors of src/factors, which a loop is given as an operation: two triangular
// solves per application.
#pragma once

#include "solvers/preconditioners/given.hpp"
#include "solvers/preconditioners/spec.hpp"

namespace trireme::solvers {

// Per nonzero of A, while the numbers are made: the columns of the pattern, numbers and a copy of
// A's in FP64, and 12 bytes in L or U.
inline constexpr PreconditionerMemory kMemoryOfFactors{.per_row = 60, .per_nonzero = 32};

// Of `applications` per iteration. On two cores the set-up takes 60 to 180 products, more where the
// diagonal has to grow, and an application 2 to 3.5. On an H200 Jacobi is faster wherever it takes
// few hundred iterations (docs/performance/preconditioners.md), so that these figures are such that
// dear iterations only make `auto` try factors there.
constexpr ExpectedCost cost_of_factors(double rate_of_jacobi, int applications) {
  return {.rate_of_jacobi = rate_of_jacobi,
          .set_up = {.products = 130, .seconds = 1e-4},
          .iteration = {.products = 3.0 * applications},
          .set_up_on_gpu = ExpectedWork{.products = 1000, .seconds = 4e-3},
          .iteration_on_gpu =
              ExpectedWork{.products = 6.0 * applications, .seconds = 3e-4 * applications}};
}

struct Ilu : Given {
  static constexpr PreconditionerInfo info{
      .names = {{{"ilu", "trireme_ilu", "trireme_ilu", "incomplete factors L U"}}},
      .summary = "incomplete LU factors",
      .data = PreconditionerData::operation,
      .parameter = {},
      .memory = kMemoryOfFactors,
      .expected = cost_of_factors(4, 2),
      .exchanges = false,
      .near_nullspace = false,
      .may_be_indefinite = true,
      .row_order_is_free = false};
};

struct Icc : Given {
  static constexpr PreconditionerInfo info{
      .names = {{{"icc", "trireme_icc", "trireme_icc", "incomplete Cholesky factors"}}},
      .summary = "incomplete Cholesky factors",
      .data = PreconditionerData::operation,
      .parameter = {},
      .memory = kMemoryOfFactors,
      .expected = cost_of_factors(3.5, 1),
      .exchanges = false,
      .near_nullspace = false,
      .symmetric = true,
      .definite = true,
      .row_order_is_free = false};
};

}  // namespace trireme::solvers
