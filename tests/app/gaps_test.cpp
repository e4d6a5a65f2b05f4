// SPDX-License-Identifier: BSD-3-Clause
// What is missing of an array after some of its pieces went elsewhere.
#include "app/gaps.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

using Gap = Gaps::Gap;

TEST(Gaps, AreInAscendingOrderAndJoinedWhereTheyTouch) {
  Gaps gaps;
  EXPECT_TRUE(gaps.joined().empty());
  gaps.add(40, 10);
  gaps.add(0, 10);
  gaps.add(20, 10);
  gaps.add(30, 10);
  gaps.add(61, 4);
  EXPECT_EQ(gaps.joined(), (std::vector<Gap>{{0, 10}, {20, 30}, {61, 4}}));
}

}  // namespace
}  // namespace trireme
