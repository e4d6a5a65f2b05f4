// SPDX-License-Identifier: BSD-3-Clause
// A misspelt name leads to the name that it probably means.
#include "base/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace trireme {
namespace {

TEST(Nearest, CountsSlipsOfTheHand) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("rtol", "rtol"), 0u);
  EXPECT_EQ(edit_distance("rtol", "rotl"), 1u);  // a swap
  EXPECT_EQ(edit_distance("kernels", "kernel"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, PicksTheLeastDistanceIfThatIsNear) {
  constexpr std::array<std::string_view, 4> names = {"dasp", "teb", "albus", "csr"};
  EXPECT_EQ(nearest("albs", names), "albus");
  EXPECT_EQ(nearest("tbe", names), "teb");
  EXPECT_EQ(nearest("sell", names), std::nullopt);
  EXPECT_EQ(nearest("x", std::array<std::string_view, 0>{}), std::nullopt);
}

TEST(Nearest, TakesNoTimeForAWordThatIsNoName) {
  const std::vector<std::string> names(100, std::string(60, 'a'));
  EXPECT_EQ(nearest(std::string(20 << 20, 'a'), names), std::nullopt);
}

}  // namespace
}  // namespace trireme
