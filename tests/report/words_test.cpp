// SPDX-License-Identifier: BSD-3-Clause
// How numbers and long lines are written in reports.
#include "report/words.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace trireme {
namespace {

TEST(Words, UnitsChangeWhereAFourthDigitWouldCome) {
  EXPECT_EQ(words::count(9'999), "9999");
  EXPECT_EQ(words::count(10'000), "10.0 k");
  EXPECT_EQ(words::count(999'499), "999 k");
  EXPECT_EQ(words::count(999'500), "1.00 M");
  EXPECT_EQ(words::count(1'230'000'000'000), "1.23 T");
  EXPECT_EQ(words::count(1'230'000'000'000'000), "1230 T");
  EXPECT_EQ(words::bytes(999), "999 B");
  EXPECT_EQ(words::bytes(1000), "1.00 kB");
  EXPECT_EQ(words::bytes(9994), "9.99 kB");
  EXPECT_EQ(words::bytes(9996), "10.0 kB");
  EXPECT_EQ(words::bytes(99'940), "99.9 kB");
  EXPECT_EQ(words::bytes(99'960), "100 kB");
  EXPECT_EQ(words::bytes(999'500), "1.00 MB");
  EXPECT_EQ(words::bytes(2.5e12), "2.50 TB");
  EXPECT_EQ(words::seconds(0), "0");
  EXPECT_EQ(words::seconds(9.9e-7), "990 ns");
  EXPECT_EQ(words::seconds(1e-6), "1.00 us");
  EXPECT_EQ(words::seconds(1e-3), "1.00 ms");
  EXPECT_EQ(words::seconds(1), "1.00 s");
  EXPECT_EQ(words::seconds(119.4), "119 s");
  EXPECT_EQ(words::seconds(120), "2 min 0 s");
  EXPECT_EQ(words::seconds(7199.4), "119 min 59 s");
  EXPECT_EQ(words::seconds(7200), "2 h 0 min");
  EXPECT_EQ(words::seconds(7261), "2 h 1 min");
  EXPECT_EQ(words::seconds(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(words::percent(0.874), "87 %");
  EXPECT_EQ(words::residual(9.84e-9), "9.8e-09");
}

TEST(Words, LinesBreakAtTheLastWordThatFits) {
  EXPECT_EQ(words::wrap("aa bb cc dd", 5, 1), "aa bb\n cc\n dd");
  EXPECT_EQ(words::wrap("aa bb cc dd", 6, 1), "aa bb\n cc dd");
  EXPECT_EQ(words::wrap("longer than it is wide", 4, 2), "longer\n  than\n  it\n  is\n  wide");
  EXPECT_EQ(words::wrap("", 4, 2), "");
}

}  // namespace
}  // namespace trireme
