// SPDX-License-Identifier: BSD-3-Clause
// PETSc's binary format with 32 and 64-bit integers, and damaged files.
#include "io/petsc_binary.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace trireme {
namespace {

class PetscBinary : public testing::TestWithParam<int> {
 protected:
  void integer(std::int64_t value) { word(static_cast<std::uint64_t>(value), GetParam()); }
  void real(double value) { word(std::bit_cast<std::uint64_t>(value), 8); }
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
