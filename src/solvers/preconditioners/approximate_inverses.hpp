// SPDX-License-Identifier: BSD-3-Clause
// The sparse approximate inverses of src/inverses, which a loop is given as an operation: two
// products per application of the factorised one, one of the other.
#pragma once

#include "solvers/preconditioners/given.hpp"
#include "solvers/preconditioners/spec.hpp"

namespace trireme::solvers {

struct Fsai : Given {
  static constexpr PreconditionerInfo info{
      .names = {{{"fsai", "trireme_fsai", "trireme_fsai",
                  "factorised sparse approximate inverse"}}},
      .summary = "factorised sparse approximate inverse",
      .data = PreconditionerData::operation,
      .parameter = {},
      // G and G^T with up to 31 entries per row each, of 12 bytes and, in FP32, 8 more.
      .memory = {.per_row = 800, .per_nonzero = 12},
      // On two cores the set-up takes 800 to 2,100 products, and an iteration 2 to 4 more. On an
      // H200 the set-up takes 500 products of small matrices, 2,800 of large ones, and an iteration
      // 15 us and 2 products more. Of 19 systems the median takes 0.23 of the iterations of Jacobi
      // (docs/performance/preconditioners.md).
      .expected = ExpectedCost{.rate_of_jacobi = 3.5,
                               .set_up = {.products = 1500, .seconds = 1e-3},
                               .iteration = {.products = 2.5, .passes = 0.5, .seconds = 5e-6},
                               .set_up_on_gpu = ExpectedWork{.products = 1000, .seconds = 1e-3},
                               .iteration_on_gpu =
                                   ExpectedWork{.products = 1.5, .passes = 0.5, .seconds = 5e-6}},
      .exchanges = true,
      .near_nullspace = false,
      .symmetric = true,
      .definite = true,
      .row_order_is_free = false};
};

struct Spai : Given {
  static constexpr PreconditionerInfo info{
      .names = {{{"spai", "trireme_spai", "trireme_spai", "sparse approximate inverse"}}},
      .summary = "sparse approximate inverse",
      .data = PreconditionerData::operation,
      .parameter = {},
      // M with up to 31 entries per row, of 12 bytes and, in FP32, 8 more.
      .memory = {.per_row = 400, .per_nonzero = 24},
      // On one core the set-up takes 1,500 to 3,000 products, and more where rows are long; of 18
      // systems the median takes 0.36 of the iterations of Jacobi, with two applications each
      // (docs/performance/preconditioners.md). For GPUs the CPUs make it, whose products take
      // longer.
      .expected = ExpectedCost{.rate_of_jacobi = 2.8,
                               .set_up = {.products = 2500, .seconds = 1e-3},
                               .iteration = {.products = 4},
                               .set_up_on_gpu = ExpectedWork{.products = 20000, .seconds = 1e-2},
                               .iteration_on_gpu = ExpectedWork{.products = 4, .seconds = 1e-5}},
      .exchanges = true,
      .near_nullspace = false,
      .nonsymmetric = true,
      .row_order_is_free = false};
};

}  // namespace trireme::solvers
