// SPDX-License-Identifier: BSD-3-Clause
// What is missing of an array after some of its pieces went elsewhere.
#include "app/system/missing_ranges.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

using Range = MissingRanges::Range;

TEST(MissingRanges, AreInAscendingOrderAndJoinedWhereTheyTouch) {
  MissingRanges missing;
  EXPECT_TRUE(missing.joined().empty());
  missing.add(40, 10);
  missing.add(0, 10);
  missing.add(20, 10);
  missing.add(30, 10);
  missing.add(61, 4);
  EXPECT_EQ(missing.joined(), (std::vector<Range>{{0, 10}, {20, 30}, {61, 4}}));
}

}  // namespace
}  // namespace trireme
