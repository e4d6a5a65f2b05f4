// SPDX-License-Identifier: BSD-3-Clause
// Tests after how many products preprocessing has paid for itself, on known costs.
#include "planning/break_even.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

constexpr KernelCost kCsr{.preprocessing_seconds = 0.5e-3, .product_us = 100};

TEST(BreakEven, IsTheFirstProductByWhichTheGainsCoverTheDebt) {
  // The build costs 2 ms more, and each product saves 20 us.
  EXPECT_EQ(break_even_products({2.5e-3, 80}, kCsr), 100);
  // Each product saves 30 us, so that 66 products save only 1980 of 2000 us.
  EXPECT_EQ(break_even_products({2.5e-3, 70}, kCsr), 67);
  EXPECT_EQ(break_even_products({0.5e-3 + 1e-9, 99}, kCsr), 1);
}

TEST(BreakEven, IsZeroWhereThereIsNoDebt) {
  EXPECT_EQ(break_even_products(kCsr, kCsr), 0);
  EXPECT_EQ(break_even_products({0.1e-3, 100}, kCsr), 0);
  EXPECT_EQ(break_even_products({0.1e-3, 50}, kCsr), 0);
}

TEST(BreakEven, IsNeverWhereAProductIsNoFaster) {
  EXPECT_EQ(break_even_products({2.5e-3, 100}, kCsr), std::nullopt);
  EXPECT_EQ(break_even_products({2.5e-3, 101}, kCsr), std::nullopt);
  EXPECT_EQ(break_even_products({0.1e-3, 101}, kCsr), std::nullopt);
}

}  // namespace
}  // namespace trireme
