// SPDX-License-Identifier: BSD-3-Clause
// Tests the diagonals of ALBUS: which rows they take, the order of their values, and products with
// one vector and with several.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/albus/albus.hpp"
#include "kernels/albus/build.hpp"
#include "kernels/albus/row_values.hpp"
#include "new_values_and_vectors.hpp"
#include "product_of_parts.hpp"
#include "stencil.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::layout_of;

// Runs of up to `most_rows` rows, each of which has the columns of the row before, moved by one, in
// no order. Between some of them lie rows with columns anywhere, and empty ones.
template <class Value>
CsrMatrix<Value> shifted_matrix(std::int64_t rows, std::int64_t cols, std::int64_t most_rows,
                                std::int64_t longest) {
  test::Random random(29);
  CsrMatrix<Value> a;
  a.cols = cols;
  while (a.rows < rows) {
    const std::int64_t run = random.below(4) == 0 ? 1 : 1 + random.below(most_rows);
    const std::int64_t length = random.below(9) == 0 ? 0 : 1 + random.below(longest);
    std::vector<std::int64_t> columns(length);
    for (auto& column : columns) column = random.below(cols - run);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    std::reverse(columns.begin(), columns.end());
    for (std::int64_t i = 0; i < run; ++i, ++a.rows) {
      for (const std::int64_t column : columns)
        a.col_idx.push_back(static_cast<std::int32_t>(column + i));
      a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
    }
  }
  a.values = test::random_vector<Value>(std::ssize(a.col_idx), 31);
  return a;
}

std::int64_t rows_in_diagonals(const albus::Pattern& pattern) {
  std::int64_t rows = 0;
  for (const albus::Part& part : pattern.parts)
    for (const albus::Window& window : part.windows)
      if (window.order == albus::RowOrder::diagonals) rows += window.rows;
  return rows;
}

// `rows` rows of three columns, not in ascending order.
CsrMatrix<double> three_diagonals(std::int64_t rows) {
  CsrMatrix<double> a;
  a.rows = rows;
  a.cols = rows + 101;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (const std::int32_t offset : {100, 0, 1}) a.col_idx.push_back(row + offset);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  for (std::size_t k = 0; k < a.col_idx.size(); ++k) a.values.push_back(static_cast<double>(k));
  return a;
}

TEST(AlbusDiagonals, StoreTheirOffsetsOnceAndTheirValuesInSlices) {
  const auto matrix = three_diagonals(2053);
  const auto layout = layout_of(matrix, 1);
  const albus::Part& part = layout.parts[0];
  EXPECT_EQ(part.offsets, (Array<std::int32_t>{100, 0, 1}));
  EXPECT_EQ(rows_in_diagonals(layout), 2048);
  ASSERT_EQ(part.windows.size(), 3u);
  EXPECT_EQ(part.windows[2].rows, 5) << "the rows after the last slice";
  ASSERT_EQ(std::ssize(layout.placed), (matrix.nnz() + 7) / 8 * 8);
  EXPECT_EQ((std::vector<double>(layout.placed.begin(), layout.placed.begin() + 10)),
            (std::vector<double>{0, 3, 6, 9, 12, 15, 18, 21, 1, 4}));
  EXPECT_EQ(layout.placed[matrix.nnz() - 1], matrix.values.back());
}

TEST(AlbusDiagonals, AreForRunsThatSaveBytes) {
  const auto rows_taken = [](std::int64_t most_rows) {
    const auto matrix = shifted_matrix<double>(3000, 5000, most_rows, 9);
    return rows_in_diagonals(layout_of(matrix, 2));
  };
  EXPECT_EQ(rows_taken(7), 0) << "no run fills a slice";
  EXPECT_GT(rows_taken(200), 2000);
  EXPECT_EQ(rows_in_diagonals(layout_of(three_diagonals(8), 1)), 0) << "three vectors only";
}

// The finder is asked for all rows from each of several rows on, as by tasks of several threads.
TEST(AlbusDiagonals, HoldEveryValueWhereTheFinderSays) {
  for (const std::int64_t most_rows : {12, 60, 2000}) {
    const auto matrix = shifted_matrix<double>(4000, 9000, most_rows, 12);
    const auto layout = layout_of(matrix, 3);
    ASSERT_GT(rows_in_diagonals(layout), 0);
    for (std::int32_t from : {0, 1, 777, 1501, 3999}) {
      albus::RowValuesFinder<double> finder(layout, from);
      for (std::int32_t row = from; row < matrix.rows; ++row) {
        const std::int32_t begin = matrix.row_ptr[row];
        const auto found = finder.of(row, begin);
        for (std::int32_t k = begin; k < matrix.row_ptr[row + 1]; ++k)
          ASSERT_EQ(found.first[(k - begin) * found.stride], matrix.values[k]) << "row " << row;
      }
    }
  }
}

// Rows of 17 columns: a whole block of the comparison and one more. Each column in turn is moved in
// one row, which then is not the row above moved by one.
TEST(AlbusDiagonals, EndWhereOneColumnOfARowIsAnother) {
  CsrMatrix<double> a;
  a.rows = 64;
  a.cols = 128;
  for (std::int32_t row = 0; row < a.rows; ++row) {
    for (std::int32_t k = 0; k < 17; ++k) a.col_idx.push_back(row + 2 * k);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  a.values.assign(a.col_idx.size(), 1.0);
  ASSERT_EQ(rows_in_diagonals(layout_of(a, 1)), 64);
  for (std::int32_t k = 0; k < 17; ++k) {
    auto other = a;
    ++other.col_idx[other.row_ptr[20] + k];
    SCOPED_TRACE("column " + std::to_string(k));
    test::expect_product_of_parts<double>(layout_of(other, 1), other);
    EXPECT_TRUE(test::matches_reference(*build_albus_host<double>(other.view()), other.view()));
  }
}

template <class Value>
class AlbusDiagonalValues : public testing::Test {};
using ValueTypes = testing::Types<double, float, std::int32_t>;
TYPED_TEST_SUITE(AlbusDiagonalValues, ValueTypes);

TYPED_TEST(AlbusDiagonalValues, MatchTheReferenceInAnyNumberOfParts) {
  for (const auto& [rows, cols] : {std::pair{3000, 3001}, {3000, 400}, {500, 90000}})
    for (const std::int64_t most_rows : {9, 40, 300})
      for (const std::int64_t count : {1, 3, 16}) {
        const auto matrix = shifted_matrix<TypeParam>(rows, cols, most_rows, 11);
        SCOPED_TRACE(std::to_string(matrix.rows) + " rows, runs of " + std::to_string(most_rows) +
                     ", " + std::to_string(count) + " parts");
        const auto layout = layout_of(matrix, count);
        ASSERT_TRUE(most_rows == 9 || rows_in_diagonals(layout) > 0);
        test::expect_product_of_parts<TypeParam>(layout, matrix);
      }
}

TYPED_TEST(AlbusDiagonalValues, TakeNewValuesAndSeveralVectors) {
  test::expect_new_values_and_vectors(shifted_matrix<TypeParam>(5000, 5300, 90, 14));
}

TEST(AlbusDiagonals, HoldRoundedValuesInMixedPrecision) {
  const auto matrix = shifted_matrix<double>(5000, 5300, 90, 14);
  const auto kernel = build_albus_mixed_host(matrix.view());
  EXPECT_TRUE(test::matches_reference(*kernel, test::rounded_to_float(matrix).view()));
}

// Beyond the caches. One value in the middle of the diagonals decides whether all are stored in
// FP32.
TEST(AlbusDiagonals, HoldExactValuesInFloatWithTheSameBits) {
  const auto exact = test::rounded_to_float(shifted_matrix<double>(60000, 61000, 900, 14));
  auto other = exact;
  other.values[exact.nnz() / 2] = std::numeric_limits<double>::denorm_min();
  const auto in_float = build_albus_host<double>(exact.view());
  const auto in_double = build_albus_host<double>(other.view());
  const std::int64_t saved =
      in_double->statistics().stored_bytes - in_float->statistics().stored_bytes;
  EXPECT_GE(saved, 4 * exact.nnz());
  EXPECT_LT(saved, 5 * exact.nnz()) << "four bytes per nonzero, and those between windows";
  EXPECT_TRUE(test::matches_reference(*in_float, exact.view()));
  EXPECT_TRUE(test::matches_reference(*in_double, other.view()));
  const auto x = test::random_vector<double>(exact.cols, 3);
  Array<double> y(exact.rows), after(exact.rows);
  in_float->multiply(x, y, Accumulate::no);
  in_double->update_values(exact.values);
  in_double->multiply(x, after, Accumulate::no);
  EXPECT_EQ(std::memcmp(y.data(), after.data(), y.size() * sizeof(double)), 0);
  in_float->update_values(other.values);
  EXPECT_TRUE(test::matches_reference(*in_float, other.view()));
}

// Bytes that the C library has lent out.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(AlbusDiagonals, KeepNoCopyInFloatOnceValuesAreNotExact) {
  const auto exact = test::rounded_to_float(shifted_matrix<double>(60000, 61000, 900, 14));
  auto inexact_at_once = exact, inexact_later = exact;
  inexact_at_once.values[0] = std::numeric_limits<double>::denorm_min();
  inexact_later.values[exact.nnz() / 2] = std::numeric_limits<double>::denorm_min();
  const auto bytes_of = [](const CsrMatrix<double>& a, const Array<double>& new_values) {
    const std::size_t before = bytes_in_use();
    const auto kernel = build_albus_host<double>(a.view());
    kernel->update_values(new_values);
    return bytes_in_use() - before;
  };
  const std::size_t least = bytes_of(inexact_at_once, inexact_at_once.values);
  const auto most = least + static_cast<std::size_t>(exact.nnz());
  EXPECT_LE(bytes_of(inexact_later, inexact_later.values), most);
  EXPECT_LE(bytes_of(exact, inexact_later.values), most);
}

}  // namespace
}  // namespace trireme
