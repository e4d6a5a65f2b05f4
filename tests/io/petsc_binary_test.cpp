// SPDX-License-Identifier: BSD-3-Clause
// PETSc's binary format with 32 and 64-bit integers, and damaged files.
#include "io/petsc_binary.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace trireme {
namespace {

class PetscBinary : public testing::TestWithParam<int> {
 protected:
  void integer(std::int64_t value) { word(static_cast<std::uint64_t>(value), GetParam()); }
  void real(double value) { word(std::bit_cast<std::uint64_t>(value), 8); }
  void single(float value) { word(std::bit_cast<std::uint32_t>(value), 4); }
  // The head of a matrix with `length` entries in each row, in the columns from 0 on.
  void head(int rows, int length) {
    for (const int number : {1211216, rows, rows, rows * length}) integer(number);
    for (int row = 0; row < rows; ++row) integer(length);
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < length; ++k) integer(k);
  }
  // [[4 -1 .] [. . .] [2 . 3]]
  void matrix(std::int64_t last_column = 2, double last_value = 3) {
    for (const int head : {1211216, 3, 3, 4, 2, 0, 2}) integer(head);
    for (const int column : {0, 1, 0}) integer(column);
    integer(last_column);
    for (const double value : {4., -1., 2., last_value}) real(value);
  }
  void vector(const std::vector<double>& values) {
    integer(1211214);
    integer(std::ssize(values));
    for (const double value : values) real(value);
  }
  const std::filesystem::path& file() {
    std::ofstream(path_, std::ios::binary) << bytes_;
    return path_;
  }
  std::string refusal() {
    try {
      read_petsc_binary(file());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string bytes_;
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("trireme-" + std::to_string(getpid()) + ".petsc");

 private:
  void word(std::uint64_t value, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
      bytes_ += static_cast<char>(value >> shift & 0xff);
  }
};

INSTANTIATE_TEST_SUITE_P(Integers, PetscBinary, testing::Values(4, 8));

// The reader takes 131072 numbers at a time.
TEST_P(PetscBinary, ReadsWhatTakesSeveralPieces) {
  constexpr int rows = 150'000;
  for (const int head : {1211216, rows, rows, rows}) integer(head);
  for (int row = 0; row < rows; ++row) integer(1);
  for (int row = 0; row < rows; ++row) integer(rows - 1 - row);
  for (int row = 0; row < rows; ++row) real(row + 0.5);
  const CsrMatrix<double> matrix = read_petsc_binary(file()).matrix;
  ASSERT_EQ(matrix.nnz(), rows);
  for (int row = 0; row < rows; ++row) {
    ASSERT_EQ(matrix.row_ptr[row + 1], row + 1);
    ASSERT_EQ(matrix.col_idx[row], rows - 1 - row);
    ASSERT_EQ(matrix.values[row], row + 0.5);
  }
}

TEST_P(PetscBinary, ReadsMatrixAndVector) {
  matrix();
  vector({7, 8, 9});
  EXPECT_TRUE(is_petsc_binary(file()));
  const WholeSystem system = read_petsc_binary(file());
  EXPECT_EQ(system.matrix.row_ptr, (Array<std::int32_t>{0, 2, 2, 4}));
  EXPECT_EQ(system.matrix.col_idx, (Array<std::int32_t>{0, 1, 0, 2}));
  EXPECT_EQ(system.matrix.values, (Array<double>{4, -1, 2, 3}));
  ASSERT_EQ(system.b.size(), 1u);
  EXPECT_EQ(system.b[0], (Array<double>{7, 8, 9}));
}

TEST_P(PetscBinary, ReadsAMatrixAlone) {
  matrix();
  EXPECT_TRUE(read_petsc_binary(file()).b.empty());
}

TEST_P(PetscBinary, RefusesTruncatedFiles) {
  matrix();
  vector({7, 8, 9});
  const std::string whole = bytes_;
  const std::size_t matrix_end = whole.size() - 2 * GetParam() - 24;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (size == matrix_end) continue;
    bytes_ = whole.substr(0, size);
    refusal();
  }
}

TEST_P(PetscBinary, ReadsAVectorAlone) {
  vector({7, 8, 9});
  EXPECT_TRUE(is_petsc_binary(file()));
  EXPECT_EQ(read_petsc_vector(file()).b.at(0), (Array<double>{7, 8, 9}));
  EXPECT_NE(refusal().find("begins with a vector"), std::string::npos);
  bytes_.clear();
  matrix();
  vector({7, 8, 9});
  EXPECT_EQ(read_petsc_vector(file()).b.at(0), (Array<double>{7, 8, 9}));
}

// The size of the file tells how many bytes a value has.
TEST_P(PetscBinary, NamesValuesOfAnotherWidth) {
  for (const bool with_vector : {false, true}) {
    bytes_.clear();
    head(3, 2);
    for (int k = 0; k < 6; ++k) single(1.5F);
    if (with_vector) {
      integer(1211214);
      integer(3);
      for (int k = 0; k < 3; ++k) single(1);
    }
    EXPECT_NE(refusal().find("its values have 4 bytes"), std::string::npos);
    bytes_.clear();
    head(3, 2);
    for (int k = 0; k < 12; ++k) real(1.5);
    if (with_vector) {
      integer(1211214);
      integer(3);
      for (int k = 0; k < 6; ++k) real(1);
    }
    EXPECT_NE(refusal().find("its values have 16 bytes"), std::string::npos);
  }
}

// Single complex values have 8 bytes, like double ones, so that only the numbers tell.
TEST_P(PetscBinary, RefusesWhatLooksLikeSingleComplex) {
  const std::function<std::pair<float, float>(int)> values[] = {
      [](int k) { return std::pair(k % 2 == 0 ? 4.F : -1.F, 0.F); },          // a Laplacian
      [](int k) { return std::pair(k % 3 == 0 ? 2.F : k % 3 - 2.F, -0.F); },  // with zeros
      [](int k) { return std::pair(0.1F * static_cast<float>(k + 1), 0.F); },
      [](int k) { return std::pair(1.F, 0.01F * static_cast<float>(k + 1)); }};
  for (const auto& value : values) {
    bytes_.clear();
    head(20, 2);
    for (int k = 0; k < 40; ++k) {
      single(value(k).first);
      single(value(k).second);
    }
    EXPECT_NE(refusal().find("look like single complex numbers"), std::string::npos);
  }
}

// Doubles of few digits, of like digits and of all sizes are no single complex numbers.
TEST_P(PetscBinary, TakesDoublesOfEveryKind) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const std::function<double(int)> values[] = {
      [](int k) { return k % 2 == 0 ? 4. : -1.; },
      [](int k) { return k % 2 == 0 ? 1. : 0.; },
      [](int k) { return std::ldexp(1., k - 20); },
      [](int k) { return std::ldexp(1., -7) * (k % 2 == 0 ? 1 : -1); },
      [](int k) { return 1000. * k + 1; },
      [](int k) { return 1048575. - 3 * k; },
      [](int k) { return (3 * k + 1) / 1024.; },
      [](int k) { return 0.1 * k; },
      [](int k) { return k / 3.; },
      [](int k) { return static_cast<double>(0.1F * static_cast<float>(k)); },
      [](int k) { return std::pow(10., k - 20); },
      [&](int) { return normal(random); },
      [&](int k) { return std::ldexp(normal(random), 20 * k - 400); }};
  for (const auto& value : values) {
    bytes_.clear();
    head(20, 2);
    for (int k = 0; k < 20; ++k)
      for (int j = 0; j < 2; ++j) real(value(2 * k + j));
    EXPECT_EQ(read_petsc_binary(file()).matrix.nnz(), 40);
  }
}

TEST_P(PetscBinary, RefusesBadEntries) {
  matrix(3);
  EXPECT_NE(refusal().find("entry 3 in row 2 has column 3"), std::string::npos);
  bytes_.clear();
  matrix(2, std::numeric_limits<double>::infinity());
  EXPECT_NE(refusal().find("inf in row 2, column 2"), std::string::npos);
  bytes_.clear();
  matrix();
  vector({1, 2});
  EXPECT_NE(refusal().find("the vector has 2 entries, the matrix 3 rows"), std::string::npos);
  bytes_.clear();
  for (const int head : {1211216, 3, 3, 4, 2, 9, 2}) integer(head);
  bytes_.resize(1000);
  EXPECT_NE(refusal().find("row 1 has length 9"), std::string::npos);
}

}  // namespace
}  // namespace trireme
