// SPDX-License-Identifier: BSD-3-Clause
#include "api/options.hpp"

#include <gtest/gtest.h>

namespace trireme::api {
namespace {

// The header that users include repeats the defaults of the library.
TEST(ApiOptions, DefaultsAreThoseOfTheLibrary) {
  const PreconditionerData data = preconditioner_data(Ranks(nullptr), {}, 10);
  EXPECT_EQ(data.multigrid, multigrid::Options());
  EXPECT_EQ(data.chebyshev_degree, solvers::PreconditionerSpec().degree);
  EXPECT_EQ(data.block_size, 1);
  const Options options = checked(Ranks(nullptr), {.device = "cpu"});
  EXPECT_EQ(options.restart, solvers::MethodOptions().restart);
  EXPECT_EQ(options.precision, Precision::full);
  EXPECT_FALSE(options.method || options.preconditioner || options.scaling);
}

TEST(ApiOptions, EveryWordOfMultigridArrives) {
  SolverOptions asked;
  asked.block_size = 3;
  asked.multigrid = {.cycle = "w",
                     .smoother = "l1-jacobi",
                     .degree = 3,
                     .threshold = 0.1,
                     .smoothed_prolongator = false,
                     .fill = 0.5,
                     .aggressive_levels = 1,
                     .max_levels = 4,
                     .coarsest_rows = 50};
  const multigrid::Options options = preconditioner_data(Ranks(nullptr), asked, 9).multigrid;
  EXPECT_EQ(options.cycle, CycleKind::w);
  EXPECT_EQ(options.smoother, Smoother::l1_jacobi);
  EXPECT_EQ(options.degree, 3);
  EXPECT_EQ(options.threshold, 0.1);
  EXPECT_FALSE(options.smoothed_prolongator);
  EXPECT_EQ(options.fill, 0.5);
  EXPECT_EQ(options.aggressive_levels, 1);
  EXPECT_EQ(options.max_levels, 4);
  EXPECT_EQ(options.coarsest_rows, 50);
  EXPECT_EQ(options.block_size, 3);
}

}  // namespace
}  // namespace trireme::api
