// SPDX-License-Identifier: BSD-3-Clause
// The steps of a cycle do what its algorithm does on the host.
#include "multigrid/cycle/cycle_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "multigrid/cycle_settings.hpp"
#include "multigrid/on_ranks.hpp"
#include "multigrid/run_program.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;
using test::ProgramOnHost;
using test::random_rows;
using test::small_levels;

// Relative to the largest number of a vector. FP32 values are the same on both sides.
void expect_same_cycle(const DistributedMatrix& a, Hierarchy& m) {
  const Array<double> r = random_rows(a, 3);
  const Array<double> expected = test::applied(m, r);
  ProgramOnHost program(m.parts(), m.options().cycle);
  for (int turn = 0; turn < 2; ++turn) {  // a cycle depends on nothing that the one before left
    const Array<double> z = program.apply(r);
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < z.size(); ++i)
      ASSERT_NEAR(z[i], expected[i], 1e-12 * largest) << "row " << i;
  }
}

TEST(CycleProgram, IsTheCycleOfTheHostForEverySmootherDegreeAndCycle) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 9);
  test::for_smoothers_degrees_and_cycles(
      {Smoother::chebyshev, Smoother::jacobi, Smoother::l1_jacobi, Smoother::block_jacobi}, 4,
      {Precision::mixed}, [&](const Options& options) {
        Hierarchy m(a, {}, options);
        EXPECT_GE(m.levels().size(), 3u);
        expect_same_cycle(*a, m);
      });
}

TEST(CycleProgram, IsTheCycleOfTheHostForBlocksAndPrecisions) {
  const auto a = generated(MPI_COMM_SELF, "elasticity3d", 5, 3);
  test::for_blocks_and_precisions([&](const Options& options) {
    Hierarchy m(a, {}, options);
    expect_same_cycle(*a, m);
  });
}

TEST(CycleProgram, ServesHierarchiesOfOneLevelAndThoseThatEndEarly) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 14);  // too many rows for an inverse
  for (const int max_levels : {1, 2})
    for (const Smoother smoother : {Smoother::chebyshev, Smoother::block_jacobi}) {
      Options options = small_levels();
      options.max_levels = max_levels;
      options.smoother = smoother;
      Hierarchy m(a, {}, options);
      EXPECT_EQ(static_cast<int>(m.levels().size()), max_levels);
      expect_same_cycle(*a, m);
    }
  for (const std::int64_t n : {1, 3}) {
    const auto tiny = generated(MPI_COMM_SELF, "poisson3d", n);
    Hierarchy m(tiny, {}, {});
    expect_same_cycle(*tiny, m);
  }
}

// Each step is a launch or a meeting of thread blocks, so that their number counts.
TEST(CycleProgram, HasSixStepsPerLevelWithTwoProductsPerSmoothing) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 14);
  Hierarchy m(a, {}, small_levels());
  const ProgramOnHost program(m.parts(), CycleKind::v);
  EXPECT_EQ(program.steps().size(), 6 * (m.levels().size() - 1) + 2);
  EXPECT_EQ(program.steps().front().kind, StepKind::take);
  EXPECT_EQ(program.steps().back().kind, StepKind::smooth);
  EXPECT_TRUE(program.steps().back().ends);
}

// Where other ranks add to P^T r, the smoothing of the next level begins with a step of its own.
TEST(CycleProgram, BeginsALevelApartWhereItsResidualIsNotComplete) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 14);
  Hierarchy m(a, {}, small_levels());
  const ProgramOnHost alone(m.parts(), CycleKind::v);
  ProgramOnHost shared(m.parts(), CycleKind::v, /*restricts_alone=*/false);
  EXPECT_EQ(shared.steps().size(), alone.steps().size() + m.levels().size() - 2);
  for (const CycleStep& step : shared.steps())
    EXPECT_TRUE(step.matrix != StepMatrix::restriction || step.kept == VectorRef{});
  const Array<double> r = random_rows(*a, 3);
  EXPECT_EQ(shared.apply(r), ProgramOnHost(m.parts(), CycleKind::v).apply(r));
}

}  // namespace
}  // namespace trireme::multigrid
