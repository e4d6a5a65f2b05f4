// SPDX-License-Identifier: BSD-3-Clause
// Compares the heuristic threshold with the algorithms of the paper, written row by row.
#include "kernels/teb/threshold.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/teb/plan.hpp"
#include "support/random.hpp"

namespace trireme::test {
namespace {

using teb::RowRuns;

RowRuns runs_of(const std::vector<std::int64_t>& counts) { return teb::runs_of(counts, {}); }

// Algorithm 2 and equation 5, one row at a time.
double variance_row_by_row(const RowRuns& runs, std::int64_t blocks, double k) {
  std::vector<std::int64_t> lengths;
  for (const teb::Run& run : runs) lengths.insert(lengths.end(), run.rows, run.length);
  const double mean = static_cast<double>(teb::nonzeros(runs)) / static_cast<double>(blocks);
  double squares = 0;
  std::int64_t first = 0, end = std::ssize(lengths) - 1, left = teb::nonzeros(runs);
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::int64_t sum = first <= end ? lengths[first++] : 0;
    while (first <= end && static_cast<double>(sum + lengths[end]) <= mean * k)
      sum += lengths[end--];
    if (block == blocks - 1) sum = left;
    left -= sum;
    squares += std::pow(static_cast<double>(sum) - mean, 2);
  }
  return squares / static_cast<double>(blocks);
}

RowRuns random_runs(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> counts(2 + random.below(60));
  for (std::int64_t& count : counts) count = random.below(3) ? random.below(40) : 0;
  counts.back() = 1 + random.below(3);
  return runs_of(counts);
}

TEST(TebThreshold, VarianceOfRunsIsThatOfRows) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RowRuns runs = random_runs(seed);
    for (const std::int64_t blocks : {1, 2, 3, 7, 20, 100, 1000})
      for (const double k : {1.0, 1.005, 1.01, 1.03, 1.5})
        ASSERT_NEAR(teb::block_variance(runs, blocks, k), variance_row_by_row(runs, blocks, k),
                    1e-9 * (1 + variance_row_by_row(runs, blocks, k)))
            << "seed " << seed << ", " << blocks << " blocks, k " << k;
  }
}

TEST(TebThreshold, PaperExampleHasNoVariance) {
  EXPECT_EQ(teb::block_variance(runs_of({0, 3, 3, 1, 1}), 4, 1), 0);
}

TEST(TebThreshold, CriticalBlocksAreTheFirstWhereMoreIsBetter) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RowRuns runs = random_runs(seed);
    const std::int64_t critical = teb::critical_blocks(runs, 100);
    for (std::int64_t blocks = 2; blocks <= std::min<std::int64_t>(critical, 100); ++blocks)
      ASSERT_EQ(variance_row_by_row(runs, blocks, 1) > variance_row_by_row(runs, blocks, 1.01),
                blocks == critical)
          << "seed " << seed << ", " << blocks << " blocks";
  }
}

TEST(TebThreshold, BisectionEndsWhereMoreIsBetterAndOneLessIsNot) {
  const RowRuns runs = runs_of({0, 0, 0, 0, 4000, 60000, 900000, 3000000});  // poisson3d, roughly
  const std::int64_t critical = teb::critical_blocks(runs, 100'000);
  ASSERT_LE(critical, 100'000);
  EXPECT_GT(teb::block_variance(runs, critical, 1), teb::block_variance(runs, critical, 1.01));
  EXPECT_LE(teb::block_variance(runs, critical - 1, 1),
            teb::block_variance(runs, critical - 1, 1.01));
}

TEST(TebThreshold, FollowsTheDecisionTree) {
  EXPECT_EQ(teb::select_k(101, 100), 1.005);
  EXPECT_EQ(teb::select_k(100, 100), 1.01);
  EXPECT_EQ(teb::select_k(51, 100), 1.01);
  EXPECT_EQ(teb::select_k(50, 100), 1.03);
}

TEST(TebThreshold, StaysWithinWhatABlockCanHold) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RowRuns runs = random_runs(seed);
    for (const std::int64_t mean : {1, 10, 256, 2017}) {
      const teb::Threshold threshold = teb::select_threshold(runs, mean, 2017);
      EXPECT_GE(threshold.nonzeros, 1);
      EXPECT_LE(threshold.nonzeros, std::min<std::int64_t>(2017, mean * 1.03 + 1));
    }
  }
  EXPECT_EQ(teb::select_threshold({}, 256, 2017).nonzeros, 2017);
}

TEST(TebThreshold, SmallMatricesGetManyBlocks) {
  EXPECT_LE(teb::make_plan(20000, runs_of({0, 0, 0, 0, 0, 20000})).threshold.nonzeros, 264);
  EXPECT_GE(teb::make_plan(4000000, runs_of({0, 0, 0, 0, 0, 4000000})).threshold.nonzeros, 1700);
}

}  // namespace
}  // namespace trireme::test
