// SPDX-License-Identifier: BSD-3-Clause
// The name that a misspelt one probably means.
#include "base/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace trireme {
namespace {

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Nearest, PicksTheLeastDistance) {
  constexpr std::array<std::string_view, 3> names = {"dasp", "teb", "albus"};
  EXPECT_EQ(nearest_name("abus", names), "albus");
  EXPECT_EQ(nearest_name("tbe", names), "teb");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace trireme
