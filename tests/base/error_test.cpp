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

TEST(Printable, HasNoControlCharacterAndNothingThatIsNoUtf8) {
  EXPECT_EQ(printable("größer ✓ 😀\n\tb"), "größer ✓ 😀\n\tb");
  EXPECT_EQ(printable("a\x1b[2J\r\x07\x7f"), "a?[2J???");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\xc2\xa0"),
            "?2J\xc2\xa0")
      << "a control sequence in Latin-1";
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "?2J");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "abc\xe2\x81\xa6"),
            "?abc?")
      << "from right to left";
  EXPECT_EQ(printable("\xc3"), "?");
  EXPECT_EQ(printable("\xe2\x80"), "??");
  EXPECT_EQ(printable("\xf0\x9f\x98"
                      "x"),
            "???x");
  EXPECT_EQ(printable("\xc0\x9b\xff"), "???");
  EXPECT_EQ(printable_line("a\nb\tc\x1b"), "a?b c?");
}

}  // namespace
}  // namespace trireme
