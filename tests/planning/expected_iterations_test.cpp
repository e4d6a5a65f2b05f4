// SPDX-License-Identifier: BSD-3-Clause
// The length of a solve is predicted from the slope of its residual.
#include "planning/expected_iterations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trireme {
namespace {

std::vector<double> falling(int count, double factor) {
  std::vector<double> norms{1};
  for (int k = 1; k < count; ++k) norms.push_back(norms.back() * factor);
  return norms;
}

TEST(ExpectedIterations, FollowASteadySlopeToTheTarget) {
  const auto norms = falling(101, std::pow(10.0, -0.02));  // 1e-2 after 100 iterations
  EXPECT_NEAR(static_cast<double>(expected_iterations(norms, 1e-8, 10000)), 300, 3);
}

TEST(ExpectedIterations, AreNotMoreThanTheLimitLeaves) {
  EXPECT_EQ(expected_iterations(falling(101, 0.999), 1e-8, 150), 50);
}

TEST(ExpectedIterations, AreAtMostTenTimesThePast) {
  EXPECT_EQ(expected_iterations(falling(101, 0.99999), 1e-8, 1'000'000), 1000);
}

TEST(ExpectedIterations, AreNoneWhereTheTargetIsReached) {
  EXPECT_EQ(expected_iterations(falling(101, 0.5), 1e-8, 10000), 0);
}

TEST(ExpectedIterations, DoNotFollowSinglePeaks) {
  auto norms = falling(101, std::pow(10.0, -0.02));
  for (std::size_t k = 0; k < norms.size(); k += 3) norms[k] *= 50;
  EXPECT_NEAR(static_cast<double>(expected_iterations(norms, 1e-8, 10000)), 300, 25);
}

TEST(ExpectedIterations, AssumeTwiceThePastWhereTheNormDoesNotFall) {
  EXPECT_EQ(expected_iterations(std::vector<double>(101, 1.0), 1e-8, 10000), 200);
  EXPECT_EQ(expected_iterations(std::vector<double>(101, NAN), 1e-8, 10000), 0);
}

}  // namespace
}  // namespace trireme
