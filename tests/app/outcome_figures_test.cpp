// SPDX-License-Identifier: BSD-3-Clause
// The figures of an outcome follow from what was measured: recomputed here from the times of every
// product and solve. Run on 1 and 3 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "app/run_case.hpp"
#include "app/solved_cases.hpp"
#include "distributed/product_times.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"
#include "planning/break_even.hpp"
#include "support/cg_unless_named.hpp"

namespace trireme {
namespace {

using namespace test;

std::vector<double> read(const hdf5::File& file, const std::string& name) {
  const hdf5::Dataset dataset = file.dataset(name);
  std::vector<double> values(dataset.extents()[0]);
  dataset.read(0, dataset.extents()[0], values.data());
  return values;
}

class OutcomeFigures : public testing::Test {
 protected:
  static constexpr std::int64_t kRepeat = 3;

  OutcomeFigures()
      : place_("results"),
        outcome_(run_case(
            MPI_COMM_WORLD,
            test::parse_with_cg(fmt::format("problem: {{generate: poisson3d, n: 9}}\ndevice: cpu\n"
                                            "kernel: [albus, csr, dasp, petsc-aij]\nrepeat: {}\n"
                                            "report: {{directory: {}}}\n",
                                            kRepeat, place_.path().string()),
                                "test.yaml"),
            nullptr)) {}

  hdf5::File solution_of(const RunOutcome& run) const {
    return hdf5::File::open(place_.path() / ("solution-" + label(run) + ".h5"));
  }

  SharedFile place_;
  CaseOutcome outcome_;
};

// Each of the 9^3 points has 3 to 6 neighbours, so that rows have 4 to 7 nonzeros.
TEST_F(OutcomeFigures, OfThePatternCountEveryNonzeroOnce) {
  const PatternPicture& p = outcome_.pattern;
  ASSERT_EQ(p.cells, 64);
  ASSERT_EQ(p.density.size(), 64u * 64);
  EXPECT_EQ(std::accumulate(p.density.begin(), p.density.end(), std::int64_t{0}),
            outcome_.problem.nnz);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < i; ++j) ASSERT_EQ(p.density[64 * i + j], p.density[64 * j + i]);
  EXPECT_EQ(p.row_lengths, (std::vector<std::int64_t>{0, 0, 0, 729}));
}

TEST_F(OutcomeFigures, OfProductsInTheirOrderAreThoseOfTheFile) {
  for (const RunOutcome& run : outcome_.runs) {
    const std::vector<double> times = read(solution_of(run), "kernel_time");
    ASSERT_LE(run.product_us.size(), 2000u);
    for (std::size_t i = 0; i < run.product_us.size(); ++i)
      EXPECT_FLOAT_EQ(run.product_us[i], times.at(i * run.product_us_stride));
  }
}

TEST_F(OutcomeFigures, OfTheProductAreThoseOfItsTimes) {
  for (const RunOutcome& run : outcome_.runs) {
    SCOPED_TRACE(run.kernel);
    const std::vector<double> times = read(solution_of(run), "kernel_time");
    const ProductTiming timing =
        summarise(std::vector<float>(times.begin(), times.end()), std::ssize(times));
    EXPECT_GE(timing.count, kRepeat * run.iterations);
    EXPECT_EQ(run.kernel_us.count, timing.count);
    EXPECT_EQ(run.kernel_us.mean, timing.mean);
    EXPECT_EQ(run.kernel_us.median, timing.median);
    EXPECT_EQ(run.kernel_us.p95, timing.p95);
    EXPECT_EQ(run.kernel_us.min, timing.min);
    EXPECT_EQ(run.kernel_us.max, timing.max);
    const double seconds = 1e-6 * timing.median;
    EXPECT_DOUBLE_EQ(run.gflops, 2.0 * static_cast<double>(outcome_.problem.nnz) / seconds / 1e9);
    const auto moved = static_cast<double>(run.bytes + 8 * 2 * outcome_.problem.rows);
    EXPECT_DOUBLE_EQ(run.gbytes_per_s, moved / seconds / 1e9);
  }
}

TEST_F(OutcomeFigures, OfTheSolvesAreTheirSumsAndTheHistory) {
  for (const RunOutcome& run : outcome_.runs) {
    SCOPED_TRACE(run.kernel);
    EXPECT_EQ(std::ssize(run.solve_seconds), kRepeat);
    const double sum = std::accumulate(run.solve_seconds.begin(), run.solve_seconds.end(), 0.0);
    EXPECT_DOUBLE_EQ(run.seconds.solve, sum);
    EXPECT_DOUBLE_EQ(run.iteration_us, 1e6 * sum / static_cast<double>(kRepeat * run.iterations));
    EXPECT_GT(run.seconds.build, 0);
    EXPECT_EQ(run.seconds.upload, 0) << "on the host";
    EXPECT_EQ(run.history, read(solution_of(run), "residual_history"));
    EXPECT_EQ(run.history.front(), 1);
    EXPECT_LE(run.history.back(), run.rtol);
    EXPECT_EQ(run.ranks, size_of(MPI_COMM_WORLD));
    EXPECT_EQ(run.rtol, 1e-8);
  }
}

TEST_F(OutcomeFigures, BreakEvenIsAgainstTheCsrOfTheCase) {
  const auto cost = [](const RunOutcome& run) {
    return KernelCost{run.seconds.build + run.seconds.upload, run.kernel_us.median};
  };
  const RunOutcome& csr = outcome_.runs[1];
  ASSERT_EQ(csr.kernel, "csr");
  for (const RunOutcome& run : outcome_.runs)
    EXPECT_EQ(run.break_even_products, break_even_products(cost(run), cost(csr))) << run.kernel;
}

// x is that of the exact solution, ones, and its residual and error are what the outcome says.
TEST_F(OutcomeFigures, ResidualAndErrorAreThoseOfTheSolution) {
  constexpr std::int64_t n = 9;
  for (const RunOutcome& run : outcome_.runs) {
    SCOPED_TRACE(run.kernel);
    const std::vector<double> x = read(solution_of(run), "x");
    ASSERT_EQ(std::ssize(x), n * n * n);
    double residual = 0, of_b = 0, error = 0;
    for (std::int64_t i = 0; i < n * n * n; ++i) {
      const std::int64_t at[] = {i % n, i / n % n, i / (n * n)}, steps[] = {1, n, n * n};
      double b = 6, product = 6 * x[i];
      for (int axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1})
          if (at[axis] + side >= 0 && at[axis] + side < n) {
            b -= 1;
            product -= x[i + side * steps[axis]];
          }
      residual += (b - product) * (b - product);
      of_b += b * b;
      error += (x[i] - 1) * (x[i] - 1);
    }
    EXPECT_NEAR(run.relative_residual, std::sqrt(residual / of_b), 1e-12);
    ASSERT_TRUE(run.relative_error);
    EXPECT_NEAR(*run.relative_error, std::sqrt(error / static_cast<double>(n * n * n)), 1e-12);
  }
}

TEST_F(OutcomeFigures, BytesAreThoseOfTheLayout) {
  const std::int64_t ranks = size_of(MPI_COMM_WORLD);
  const RunOutcome& csr = outcome_.runs[1];
  const std::int64_t min_bytes = 12 * outcome_.problem.nnz + 4 * outcome_.problem.rows;
  if (ranks == 1) {
    EXPECT_EQ(csr.bytes, min_bytes + 4);
  }
  EXPECT_GE(csr.bytes, min_bytes + 4 * ranks);
  EXPECT_LE(csr.bytes, min_bytes + 4 * (outcome_.problem.rows + 2 * ranks))
      << "a ghost block's rows";
  EXPECT_EQ(csr.padding, 0);
  EXPECT_GT(csr.peak_memory, csr.bytes);
}

}  // namespace
}  // namespace trireme
