// SPDX-License-Identifier: BSD-3-Clause
// The text of an error is one line, whatever it quotes.
#include "base/error.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Error, IsOneLineWhateverItQuotes) {
  EXPECT_STREQ(Error(ExitCode::input, "a.h5: no group 'x\ny\033[2J\x7f\tz'").what(),
               "a.h5: no group 'x?y?[2J? z'");
  EXPECT_STREQ(Error(ExitCode::input, "größer").what(), "größer");
}

TEST(Error, KeepsBeginningAndEndOfAVeryLongText) {
  const std::string what =
      Error(ExitCode::usage, "begin " + std::string(1 << 20, 'x') + " end").what();
  EXPECT_LE(what.size(), 4000u);
  EXPECT_TRUE(what.starts_with("begin x"));
  EXPECT_TRUE(what.ends_with("x end"));
}

}  // namespace
}  // namespace trireme
