// SPDX-License-Identifier: BSD-3-Clause
// The copy of a matrix on a GPU that goes up while the matrix is read.
#include "app/system/early_upload.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

#include "device/device.hpp"
#include "sparse/generators.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kPiece = 5'003;  // numbers

class EarlyUploadOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device(0);
    GenerateSpec spec;
    spec.kind = "poisson3d";
    spec.n = 60;
    matrix = generate(spec, 0, generator_shape(spec).rows).local;
    // Memory of the pool may still hold the numbers of an earlier test, which must not pass for
    // these.
    static int tests = 0;
    ++tests;
    for (std::int32_t& column : matrix.col_idx) column += tests;
    for (double& value : matrix.values) value += tests;
  }

  // Passes the pieces [first, last) of both arrays by all threads, each from memory that is
  // overwritten afterwards.
  void pass(EarlyUpload& early, std::int64_t first, std::int64_t last) const {
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t piece = first; piece < last; ++piece) {
      const std::int64_t at = piece * kPiece;
      const std::int64_t count = std::min(kPiece, matrix.nnz() - at);
      Array<std::int32_t> columns(matrix.col_idx.begin() + at, matrix.col_idx.begin() + at + count);
      Array<double> values(matrix.values.begin() + at, matrix.values.begin() + at + count);
      early.columns(at, columns);
      early.values(at, values);
      std::ranges::fill(columns, -1);
      std::ranges::fill(values, -1.0);
    }
  }
  std::int64_t pieces() const { return (matrix.nnz() + kPiece - 1) / kPiece; }

  void expect_the_matrix(EarlyUpload& early) const {
    ASSERT_TRUE(early.has_entries());
    const Stream stream;
    Uploader uploader;
    const BlockedDeviceCsr<double> whole = early.finish(matrix, uploader, stream);
    const DeviceCsrMatrix<double>& copy = whole.arrays;
    ASSERT_EQ(whole.later.size(), matrix.cuts.size());
    for (std::size_t k = 0; k < matrix.cuts.size(); ++k) {
      EXPECT_EQ(whole.later[k].row, matrix.cuts[k]);
      EXPECT_EQ(whole.later[k].entry, matrix.row_begin(matrix.cuts[k]));
    }
    EXPECT_EQ(copy.rows, matrix.rows);
    EXPECT_EQ(copy.cols, matrix.cols);
    EXPECT_EQ(to_host(copy.row_ptr.view(), stream), matrix.row_ptr);
    EXPECT_EQ(to_host(copy.col_idx.view(), stream), matrix.col_idx);
    EXPECT_EQ(to_host(copy.values.view(), stream), matrix.values);
  }

  CsrMatrix<double> matrix;
};

TEST_F(EarlyUploadOnAGpu, HasTheMatrixThatWasReadAfterTheGpuWasOpen) {
  EarlyUpload early;
  early.open(omp_get_max_threads());
  early.begin(matrix.nnz());
  pass(early, 0, pieces());
  expect_the_matrix(early);
}

TEST_F(EarlyUploadOnAGpu, HasTheBlocksOfTheMatrix) {
  EarlyUpload early;
  early.open(omp_get_max_threads());
  early.begin(matrix.nnz());
  pass(early, 0, pieces());
  cut_again(matrix, matrix.nnz() / 3);
  ASSERT_GE(matrix.cuts.size(), 2u);
  expect_the_matrix(early);
}

TEST_F(EarlyUploadOnAGpu, HasThePiecesThatWereReadBeforeTheGpuWasOpen) {
  EarlyUpload early;
  early.begin(matrix.nnz());
  pass(early, 0, pieces() / 3);
  early.open(omp_get_max_threads());
  pass(early, pieces() / 3, pieces());
  expect_the_matrix(early);
}

TEST_F(EarlyUploadOnAGpu, HasAMatrixOfWhichNoPieceWentUpWhileItWasRead) {
  EarlyUpload early;
  early.begin(matrix.nnz());
  pass(early, 0, pieces());
  early.open(omp_get_max_threads());
  expect_the_matrix(early);
}

TEST_F(EarlyUploadOnAGpu, HasNothingWhereTheGpuWasOpenAfterTheEndOfReading) {
  EarlyUpload early;
  early.begin(matrix.nnz());
  pass(early, 0, pieces());
  early.end();
  early.open(2);
  EXPECT_FALSE(early.has_entries());
}

TEST_F(EarlyUploadOnAGpu, HasNothingWhereNobodyRead) {
  EarlyUpload early;
  early.open(2);
  EXPECT_FALSE(early.has_entries());
}

}  // namespace
}  // namespace trireme
