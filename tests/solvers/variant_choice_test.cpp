// SPDX-License-Identifier: BSD-3-Clause
// The times that decide between the variants of CG.
#include "solvers/variant_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace trireme::solvers {
namespace {

TEST(VariantChoice, TakesSingleReductionWhereASumCostsMoreThanItsWork) {
  constexpr double us = 1e-6;
  EXPECT_EQ(faster_variant({5 * us, 10 * us, 12 * us}), Variant::single_reduction);
  EXPECT_EQ(faster_variant({1 * us, 10 * us, 12 * us}), Variant::classic);
  EXPECT_EQ(faster_variant({0, 12 * us, 10 * us}), Variant::single_reduction);
  EXPECT_EQ(faster_variant({0, 0, 0}), Variant::classic);
}

TEST(VariantChoice, NoRowsTakeNoTime) {
  const VariantTimes none = time_vector_work(0, true);
  EXPECT_EQ(none.classic, 0);
  EXPECT_EQ(none.single_reduction, 0);
}

// The least of three measurements, because other programs may be at work.
VariantTimes least(std::int64_t rows, bool jacobi) {
  VariantTimes least = time_vector_work(rows, jacobi);
  for (int k = 0; k < 2; ++k) {
    const VariantTimes again = time_vector_work(rows, jacobi);
    least.classic = std::min(least.classic, again.classic);
    least.single_reduction = std::min(least.single_reduction, again.single_reduction);
  }
  return least;
}

TEST(VariantChoice, RowsBeyondTheTimedOnesCount) {
  for (const bool jacobi : {false, true}) {
    const VariantTimes few = least(100, jacobi), timed = least(kTimedRows, jacobi),
                       more = least(16 * kTimedRows, jacobi);
    EXPECT_GT(few.classic, 0);
    EXPECT_GT(few.single_reduction, 0);
    EXPECT_GT(timed.classic, 10 * few.classic);
    EXPECT_GT(timed.single_reduction, 10 * few.single_reduction);
    EXPECT_GT(more.classic, 3 * timed.classic);
    EXPECT_GT(more.single_reduction, 3 * timed.single_reduction);
  }
}

TEST(VariantChoice, ASumIsTimed) {
  class SlowSums : public HostSystem {
   public:
    std::int64_t rows() const override { return 1; }
    void multiply(std::span<const double>, std::span<double>) override {}
    void sum(std::span<double> values) override {
      EXPECT_EQ(values.size(), 4U);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  };
  SlowSums system;
  EXPECT_GE(time_of_sum(system), 2e-3);
  EXPECT_LE(time_of_sum(system), 1);
}

}  // namespace
}  // namespace trireme::solvers
