// SPDX-License-Identifier: BSD-3-Clause
// What a GPU finds in the rows of a matrix is what the host finds there.
#include "kernels/csr_scans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "sparse/generators.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {
namespace {

class CsrScansOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device(0);
  }
  static CsrMatrix<double> made(const char* kind, std::int64_t n) {
    GenerateSpec spec;
    spec.kind = kind;
    spec.n = n;
    return generate(spec, 0, generator_shape(spec).rows).local;
  }
};

// In one block, and in several.
std::vector<CsrMatrix<double>> in_blocks(const CsrMatrix<double>& matrix) {
  std::int64_t longest = 1;
  for (std::int64_t row = 0; row < matrix.rows; ++row)
    longest = std::max<std::int64_t>(longest, matrix.row_ptr[row + 1] - matrix.row_ptr[row]);
  std::vector<CsrMatrix<double>> all(2, matrix);
  cut_again(all[1], std::max(longest, matrix.nnz() / 4));
  EXPECT_FALSE(all[1].cuts.empty());
  return all;
}

Array<double> inverse_on_host(const CsrMatrix<double>& matrix) {
  Array<double> inverse(matrix.rows);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    double d = 0;
    for (std::int32_t k = matrix.row_ptr[row]; k < matrix.row_ptr[row + 1]; ++k)
      if (matrix.col_idx[k] == row) d += matrix.values[k];
    inverse[row] = d == 0 ? 1 : 1 / d;
  }
  return inverse;
}

TEST_F(CsrScansOnAGpu, InverseDiagonalHasTheBitsOfTheHosts) {
  const Stream stream;
  Uploader uploader;
  for (const char* kind : {"rmat", "mesh2d", "arrow", "lognormal"}) {
    SCOPED_TRACE(kind);
    const CsrMatrix<double> matrix = made(kind, std::string(kind) == "rmat" ? 12 : 150);
    const Array<double> expected = inverse_on_host(matrix);
    for (const CsrMatrix<double>& cut : in_blocks(matrix)) {
      SCOPED_TRACE(cut.cuts.size());
      const auto on_device = to_device(cut, uploader, stream);
      const InverseDiagonal found = invert_diagonal(on_device.blocks(), stream);
      EXPECT_EQ(to_host(found.values.view(), stream), expected);
      EXPECT_EQ(found.constant.has_value(),
                std::ranges::count(expected, expected.front()) == std::ssize(expected));
    }
  }
}

TEST_F(CsrScansOnAGpu, InverseDiagonalTellsOfConstantsAndZeros) {
  const Stream stream;
  Uploader uploader;
  for (CsrMatrix<double> matrix : in_blocks(made("poisson2d", 60))) {
    SCOPED_TRACE(matrix.cuts.size());
    const auto find = [&] {
      return invert_diagonal(to_device(matrix, uploader, stream).blocks(), stream);
    };
    EXPECT_EQ(find().constant, 1 / matrix.values[0]);
    EXPECT_FALSE(find().has_zero);
    const std::int64_t row = matrix.rows - 1;  // its last entry is on the diagonal
    ASSERT_EQ(matrix.col_idx.back(), row);
    matrix.values.back() = 0;
    const InverseDiagonal with_zero = find();
    EXPECT_TRUE(with_zero.has_zero);
    EXPECT_FALSE(with_zero.constant);
    EXPECT_EQ(to_host(with_zero.values.view(), stream).back(), 1);
    matrix.col_idx.back() = 0;  // the entry is missing
    matrix.values.back() = 5;
    EXPECT_TRUE(find().has_zero);
  }
}

TEST_F(CsrScansOnAGpu, InverseDiagonalOfNoRowsIsEmpty) {
  const Stream stream;
  const InverseDiagonal none = invert_diagonal(BlockedDeviceCsr<double>().blocks(), stream);
  EXPECT_TRUE(none.values.empty());
  EXPECT_FALSE(none.constant);
  EXPECT_FALSE(none.has_zero);
}

void expect_same(const RowFacts& found, const RowFacts& expected) {
  EXPECT_EQ(found.positive, expected.positive);
  EXPECT_EQ(found.negative, expected.negative);
  EXPECT_EQ(found.zero, expected.zero);
  EXPECT_EQ(found.empty, expected.empty);
  EXPECT_EQ(found.dominant, expected.dominant);
  EXPECT_EQ(found.with_sum, expected.with_sum);
  EXPECT_EQ(found.pattern, expected.pattern);
  EXPECT_EQ(found.values, expected.values);
  EXPECT_EQ(found.least, expected.least);
  EXPECT_EQ(found.greatest, expected.greatest);
}

TEST_F(CsrScansOnAGpu, RowFactsAreThoseOfTheHost) {
  const Stream stream;
  Uploader uploader;
  constexpr std::int64_t first_row = 1000;
  for (const char* kind : {"poisson3d", "convection3d", "elasticity3d", "rmat", "arrow"}) {
    SCOPED_TRACE(kind);
    CsrMatrix<double> matrix = made(kind, 14);
    matrix.values[matrix.values.size() / 2] = -0.0;
    const Array<RowKey> keys = row_keys(first_row, matrix.rows);
    const CsrView<double> whole = matrix.view(), none;
    const KeyedRows keyed{whole, none, 0, keys, {}};
    const RowFacts expected = row_facts(keyed);
    Array<std::uint8_t> left_out(matrix.rows, 0);
    std::vector<std::int32_t> others;
    for (std::int32_t row = 0; row < matrix.rows; ++row) {
      left_out[row] = row % 5 == 2 ? 1 : 0;
      if (left_out[row] == 0) others.push_back(row);
    }
    const DeviceBuffer<std::uint8_t> on_gpu =
        to_device(std::span<const std::uint8_t>(left_out), stream);
    for (const CsrMatrix<double>& cut : in_blocks(matrix)) {
      SCOPED_TRACE(cut.cuts.size());
      const auto device = to_device(cut, uploader, stream);
      expect_same(row_facts(device.blocks(), first_row, {}, stream), expected);
      expect_same(row_facts(device.blocks(), first_row, on_gpu.view(), stream),
                  row_facts(keyed, others));
    }
  }
}

TEST_F(CsrScansOnAGpu, RowSizeRangesAreThoseOfTheHost) {
  const Stream stream;
  Uploader uploader;
  for (const char* kind : {"poisson3d", "convection3d", "rmat", "arrow"}) {
    SCOPED_TRACE(kind);
    CsrMatrix<double> matrix = made(kind, 14);
    for (std::size_t k = 0; k < matrix.values.size(); ++k)
      matrix.values[k] *= std::ldexp(1.0, static_cast<int>(k * k % 90) - 45);
    RowSizeRange expected;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      double size = 0;
      for (std::int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k)
        size = std::max(size, std::abs(matrix.values[k]));
      expected.take(size);
    }
    for (const CsrMatrix<double>& cut : in_blocks(matrix)) {
      SCOPED_TRACE(cut.cuts.size());
      const RowSizeRange found = row_size_range(to_device(cut, uploader, stream).blocks(), stream);
      EXPECT_EQ(found.least, expected.least);
      EXPECT_EQ(found.greatest, expected.greatest);
    }
  }
}

}  // namespace
}  // namespace trireme
