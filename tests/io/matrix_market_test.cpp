// SPDX-License-Identifier: BSD-3-Clause
// The Matrix Market reader: files that it reads, and the lines of the faults that it names.
#include "io/matrix_market.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "support/limited_memory.hpp"

namespace trireme {
namespace {

class MatrixMarket : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  std::filesystem::path write_gzip(const std::string& text) {
    const gzFile file = gzopen(path_.c_str(), "wb1");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path_;
  }
  std::string refusal(const std::string& text) {
    try {
      read_matrix_market(write(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      const std::string what = error.what();
      EXPECT_EQ(what.find('\n'), std::string::npos);
      EXPECT_TRUE(what.starts_with(path_.string() + ": ")) << what;
      return what.substr(path_.string().size() + 2);
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("trireme-" + std::to_string(getpid()) + ".mtx");
};

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

CsrMatrix<double> read(const std::filesystem::path& path) {
  return read_matrix_market(path).matrix;
}

void expect_rows(const CsrMatrix<double>& a, const Array<std::int32_t>& row_ptr,
                 const Array<std::int32_t>& col_idx, const Array<double>& values) {
  EXPECT_EQ(a.row_ptr, row_ptr);
  EXPECT_EQ(a.col_idx, col_idx);
  EXPECT_EQ(a.values, values);
}

TEST_F(MatrixMarket, ReadsGeneralInAnyOrderAndSumsDuplicates) {
  const auto a = read(write(general + "% a comment\n\n 3 4 5 \n3 1 1.5\n1 4 -2e3\n"
                                      "\n% more\n1\t2   +.5 \r\n3 1 0.25\n1 1 0"));
  EXPECT_EQ(a.rows, 3);
  EXPECT_EQ(a.cols, 4);
  expect_rows(a, {0, 3, 3, 4}, {0, 1, 3, 0}, {0, 0.5, -2000, 1.75});
}

TEST_F(MatrixMarket, MirrorsSymmetricAndSkew) {
  const std::string entries = "2 2 2\n1 1 5\n2 1 3\n";
  const auto a = read(write("%%matrixmarket MATRIX Coordinate Integer Symmetric\n" + entries));
  expect_rows(a, {0, 2, 3}, {0, 1, 0}, {5, 3, 3});
  const auto skew =
      read(write("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 3\n3 2 4\n"));
  expect_rows(skew, {0, 1, 3, 4}, {1, 0, 2, 1}, {-3, 3, -4, 4});
}

TEST_F(MatrixMarket, GivesPatternsOnes) {
  const auto a = read(write("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n"));
  expect_rows(a, {0, 1, 2}, {2, 0}, {1, 1});
}

TEST_F(MatrixMarket, ReadsArraysByColumns) {
  const auto a = read(write("%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n6\n"));
  expect_rows(a, {0, 2, 5}, {0, 2, 0, 1, 2}, {1, 5, 2, 4, 6});
  const auto symmetric =
      read(write("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"));
  expect_rows(symmetric, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {1, 2, 3, 2, 4, 5, 3, 5, 6});
  const auto skew = read(write("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"));
  expect_rows(skew, {0, 2, 4, 6}, {1, 2, 0, 2, 0, 1}, {-1, -2, 1, -3, 2, 3});
  const auto vectors =
      read_matrix_market_vectors(
          write("%%MatrixMarket matrix array real general\n3 2\n1\n0\n3\n4\n5\n6\n"))
          .b;
  ASSERT_EQ(vectors.size(), 2u);
  EXPECT_EQ(vectors[0], (Array<double>{1, 0, 3}));
  EXPECT_EQ(vectors[1], (Array<double>{4, 5, 6}));
}

// What Fortran and other programs write, and scipy reads.
TEST_F(MatrixMarket, ReadsWhatScipyReads) {
  const auto expect_two = [](const CsrMatrix<double>& a) {
    expect_rows(a, {0, 1, 2}, {0, 1}, {-1.5, 0.25});
  };
  const std::string entries = "1 1 -1.5\n2 2 0.25\n";
  for (const char* numbers : {"1 1 -1.5D+00\n2 2 2.5d-1\n", "1 1 -15D-1\n2 2 +.25D0\n"})
    expect_two(read(write(general + "2 2 2\n" + numbers)));
  expect_two(
      read(write(general + "  % before\n\t%\n2 2 2\n1 1 -1.5\n  % between\n2 2 0.25\n %\n")));
  for (const std::string start : {"\xEF\xBB\xBF%%", "%", "\xEF\xBB\xBF%"}) {
    write(start + general.substr(2) + "2 2 2\n" + entries);
    EXPECT_TRUE(is_matrix_market(path_)) << start;
    expect_two(read(path_));
  }
  expect_rows(
      read(write("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 3\n1 1 0\n2 1 3\n"
                 "2 2 0.0\n")),
      {0, 2, 4}, {0, 1, 0, 1}, {0, -3, 3, 0});
}

TEST_F(MatrixMarket, RefusesHalfAnExponent) {
  for (const char* number : {"1.0D", "1.0D+", "1.0Dx", "1.0D+00D1", "D5", "1.0D+999", "--1"})
    EXPECT_TRUE(refusal(general + "1 1 1\n1 1 " + number + "\n")
                    .starts_with("line 3: the value must be a finite number"))
        << number;
  EXPECT_FALSE(is_matrix_market(write("%%%MatrixMarket matrix\n")));
  EXPECT_FALSE(is_matrix_market(write("MatrixMarket matrix\n")));
}

TEST_F(MatrixMarket, ReadsEmptyMatrices) {
  expect_rows(read(write(general + "3 0 0\n")), {0, 0, 0, 0}, {}, {});
  expect_rows(read(write(general + "0 5 0")), {0}, {}, {});
}

// The file is long enough for many chunks, whose boundaries are inside lines.
TEST_F(MatrixMarket, ReadsManyChunksPlainAndGzippedAlike) {
  constexpr int n = 150000;
  std::string text = general + std::string(3 << 20, '%') + "\n";  // a header of several chunks
  text += std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(2 * n) + "\n";
  for (int i = 1; i <= n; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(i) + ".125\n";
    text += std::to_string(n + 1 - i) + " " + std::to_string((i * 7919LL) % n + 1) + " 1e-3\n";
  }
  const auto plain = read(write(text));
  EXPECT_EQ(plain.row_ptr.size(), n + 1u);
  for (std::int64_t row = 0; row < n; row += 4999) {
    double sum = 0;
    for (std::int32_t k = plain.row_ptr[row]; k < plain.row_ptr[row + 1]; ++k)
      sum += plain.values[k];
    EXPECT_NEAR(sum, row + 1 + .125 + 1e-3, 1e-9);
  }
  const auto gzipped = read(write_gzip(text));
  EXPECT_EQ(plain.row_ptr, gzipped.row_ptr);
  EXPECT_EQ(plain.col_idx, gzipped.col_idx);
  EXPECT_EQ(plain.values, gzipped.values);

  text += "\n1 x 3\n";
  const auto line = std::count(text.begin(), text.end(), '\n');
  EXPECT_EQ(refusal(text),
            "line " + std::to_string(line) + ": row and column must be whole numbers");
}

TEST_F(MatrixMarket, NamesTheLineOfAFault) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "line 1: not a Matrix Market file"},
      {"hello\n", "line 1: not a Matrix Market file"},
      {"%%MatrixMarket matrix coordinate complex general\n", "line 1: complex"},
      {"%%MatrixMarket matrix coordinate complex hermitian\n", "line 1: complex and hermitian"},
      {"%%MatrixMarket matrix coordinate real odd\n", "line 1: unknown symmetry \"odd\""},
      {"%%MatrixMarket matrix array pattern general\n", "line 1: unknown field \"pattern\""},
      {general + "% only comments\n", "line 2: the file ends before the size line"},
      {general + "%\n3 3\n", "line 3: the size line must be rows, columns, entries"},
      {general + "3 3000000000 1\n", "line 2: 3 x 3000000000 is too large"},
      {general + "2 2 1\n0 1 1\n", "line 3: the row is out of range"},
      {general + "2 2 1\n\n1 3 1\n", "line 4: the column is out of range"},
      {general + "2 2 1\n1 1\n", "line 3: the value must be a finite number"},
      {general + "2 2 1\n1 1 nan\n", "line 3: the value must be a finite number"},
      {general + "2 2 1\n1 1 1e999\n", "line 3: the value must be a finite number"},
      {general + "2 2 1\n1 1 1.0 2.0\n", "line 3: there is more on the line"},
      {general + "2 2 1\n1.5 1 1.0\n", "line 3: row and column must be whole numbers"},
      {general + "2 2 2\n1 1 1.0\n",
       "line 3: the file ends after 1 entries; its size line promises 2"},
      {general + "2 2 1\n1 1 1\n2 2 1\n", "more entries than the 1 that the size line promises"},
      {general + "2 2 1000000\n1 1 1\n",
       "line 2: 1000000 entries are promised, which a file of 64 bytes cannot hold"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
       "line 2: 2 x 3 cannot be symmetric"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n",
       "a symmetric file must hold one triangle only"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n",
       "line 3: a skew-symmetric matrix has no diagonal"},
  };
  for (const auto& [text, message] : cases) {
    const std::string got = refusal(text);
    EXPECT_TRUE(got.starts_with(message)) << got;
  }
}

TEST_F(MatrixMarket, AsksForMemoryBeforeItTakesARealClaim) {
  write(general + "2147483647 2147483647 1\n1 1 1\n");
  const test::LimitedMemory limit(std::size_t{1} << 30);
  try {
    read(path_);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource) << error.what();
    EXPECT_NE(std::string(error.what()).find(" bytes (24.0 GiB) are needed"), std::string::npos)
        << error.what();
  }
}

// The file has 64 MB of entries where its header promises one. Reading ends with the first pieces.
TEST_F(MatrixMarket, StopsAtMoreEntriesThanPromised) {
  std::string piece;
  for (int i = 0; i < 1 << 17; ++i) piece += "1 1 1\n";
  std::string text = general + "2 2 1\n";
  for (int i = 0; i < 80; ++i) text += piece;
  write_gzip(text);
  const test::LimitedMemory limit(std::size_t{600} << 20);
  try {
    read(path_);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("more entries than the 1 that"), std::string::npos)
        << error.what();
  }
}

TEST_F(MatrixMarket, RefusesTruncatedGzip) {
  std::string text = general + "1000 1000 1000\n";
  for (int i = 1; i <= 1000; ++i) text += std::to_string(i) + " 1 " + std::to_string(i * i) + "\n";
  write_gzip(text);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  EXPECT_THROW(
      {
        try {
          read(path_);
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("truncated gzip"), std::string::npos)
              << error.what();
          throw;
        }
      },
      Error);
}

}  // namespace
}  // namespace trireme
