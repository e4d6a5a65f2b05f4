// SPDX-License-Identifier: BSD-3-Clause
// Chunks consist of whole lines, and their number of pieces does not multiply the work.
#include "io/text_chunks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "io/matrix_market_parse.hpp"

namespace trireme {
namespace {

class Text : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  void write_gzip(const std::string& piece, int times) {
    const gzFile file = gzopen(path_.c_str(), "wb1");
    for (int i = 0; i < times; ++i)
      gzwrite(file, piece.data(), static_cast<unsigned>(piece.size()));
    gzclose(file);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("trireme-text-" + std::to_string(getpid()));
};

using TextChunks = Text;

TEST_F(TextChunks, AreWholeLinesInOrder) {
  write("one\ntwo\n\nthree is longer than a chunk\nlast");
  trireme::TextChunks chunks(path_, 6);
  std::string all, chunk;
  for (std::int64_t number = -1, before = -1; chunks.next(chunk, number); before = number) {
    EXPECT_EQ(number, before + 1);
    EXPECT_TRUE(chunk.ends_with('\n') || chunks.at_end());
    all += chunk;
  }
  EXPECT_EQ(all, "one\ntwo\n\nthree is longer than a chunk\nlast");
}

// The text has 1.5 million pieces. To search the text before each of them would take hours.
TEST_F(TextChunks, TakeOneLongLineInLinearTime) {
  std::string text(12 << 20, '%');
  text += "\nthe end\n";
  write(text);
  trireme::TextChunks chunks(path_, 8);
  std::string all, chunk;
  for (std::int64_t number = 0; chunks.next(chunk, number);) all += chunk;
  EXPECT_TRUE(all == text);
}

TEST_F(TextChunks, RefuseALineWithoutEnd) {
  write_gzip(std::string(1 << 20, '%'), 80);
  trireme::TextChunks chunks(path_);
  std::string chunk;
  std::int64_t number = 0;
  try {
    chunks.next(chunk, number);
    FAIL() << "a line of 80 MiB was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.what(),
              path_.string() + ": a line is longer than 64 MiB; the file is no text of numbers");
  }
}

// The parser sees every piece once and keeps none.
TEST(HeaderParser, TakesAHeaderInPieces) {
  matrix_market::HeaderParser parser;
  std::string_view banner = "%%MatrixMarket matrix coordinate real general\n% a comment\n";
  EXPECT_FALSE(parser.take(banner));
  EXPECT_TRUE(banner.empty());
  for (int i = 0; i < 100'000; ++i) {
    std::string_view comment = "% more\n\n";
    ASSERT_FALSE(parser.take(comment));
    ASSERT_TRUE(comment.empty());
  }
  EXPECT_THROW(parser.header(), matrix_market::Fault);
  std::string_view rest = "%\n4 5 6\n1 1 1\n";
  EXPECT_TRUE(parser.take(rest));
  EXPECT_EQ(rest, "1 1 1\n");
  EXPECT_EQ(parser.header().rows, 4);
  EXPECT_EQ(parser.header().cols, 5);
  EXPECT_EQ(parser.header().entries, 6);
  EXPECT_EQ(parser.header().lines, 200'004);
}

}  // namespace
}  // namespace trireme
