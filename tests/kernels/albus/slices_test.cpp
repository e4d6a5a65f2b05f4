// SPDX-License-Identifier: BSD-3-Clause
// Tests the slices of ALBUS: which rows they take, where the nonzeros lie, and products with one
// vector and with several.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/albus/albus.hpp"
#include "kernels/albus/build.hpp"
#include "new_values_and_vectors.hpp"
#include "product_of_parts.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using albus::RowOrder;

template <class Value>
albus::Layout<Value> layout_with_slices(const CsrMatrix<Value>& matrix, std::int64_t parts) {
  std::vector<BuildStep> steps;
  albus::Layout<Value> layout;
  static_cast<albus::Pattern&>(layout) = albus::build(matrix.view(), parts, steps);
  layout.values = matrix.values;
  albus::place_values(layout, layout.values, layout.placed);
  return layout;
}

std::int64_t rows_in(RowOrder order, const albus::Pattern& pattern) {
  std::int64_t rows = 0;
  for (const albus::Part& part : pattern.parts)
    for (const albus::Window& window : part.windows)
      if (window.order == order) rows += window.rows;
  return rows;
}

// Rows with the same few distances of columns from the row, of which each row lacks some: one in
// `lacking`. Every 500th row has its columns anywhere.
template <class Value>
CsrMatrix<Value> stencil_with_holes(std::int64_t rows, std::int64_t cols, std::int64_t lacking) {
  test::Random random(17);
  CsrMatrix<Value> a;
  a.rows = rows;
  a.cols = cols;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int64_t distance : {-60, -59, -1, 0, 1, 58, 60}) {
      const std::int64_t column = row + distance;
      if (row % 500 == 499)
        a.col_idx.push_back(static_cast<std::int32_t>(random.below(cols)));
      else if (column >= 0 && column < cols && random.below(lacking) != 0)
        a.col_idx.push_back(static_cast<std::int32_t>(column));
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  a.values = test::random_vector<Value>(std::ssize(a.col_idx), 31);
  return a;
}

template <class Value>
CsrMatrix<Value> scattered(std::int64_t rows, std::int64_t cols, std::int64_t longest) {
  return test::matrix_with_row_lengths<Value>(test::random_lengths(rows, 0, longest), cols, 7,
                                              test::Columns::unsorted);
}

template <class Value>
std::vector<std::pair<std::string, CsrMatrix<Value>>> sliced_matrices() {
  return {{"stencil", stencil_with_holes<Value>(3001, 3001, 20)},
          {"stencil with fewer columns", stencil_with_holes<Value>(3001, 2000, 9)},
          {"scattered", scattered<Value>(3001, 3001, 9)},
          {"scattered over many columns", scattered<Value>(1003, 60000, 20)},
          {"short", scattered<Value>(2000, 90, 3)}};
}

TEST(AlbusSlices, SortTheRowsOfAWindow) {
  std::vector<std::int64_t> lengths;
  for (int row = 0; row < 40; ++row) lengths.push_back(row % 2 == 0 ? 2 : 3);
  const auto matrix = test::matrix_with_row_lengths<double>(lengths, 5000, 3);
  const auto layout = layout_with_slices(matrix, 1);
  const albus::Part& part = layout.parts[0];
  ASSERT_EQ(part.windows.size(), 1u);
  EXPECT_EQ(part.windows[0].order, RowOrder::sorted_slices);
  ASSERT_EQ(part.steps.size(), 5u);
  std::vector<std::pair<int, int>> steps;
  for (const albus::Steps s : part.steps) steps.emplace_back(s.full, s.all);
  EXPECT_EQ(steps, (std::vector<std::pair<int, int>>{{3, 3}, {3, 3}, {2, 3}, {2, 2}, {2, 2}}));
  EXPECT_EQ(part.masks, (Array<std::uint8_t>{0x0f}))
      << "20 rows of three, the last four in slice 2";
  EXPECT_EQ((std::vector<int>(part.slice_rows.begin(), part.slice_rows.begin() + 8)),
            (std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(layout.placed[0], matrix.values[matrix.row_ptr[1]]);
  EXPECT_EQ(layout.placed[9], matrix.values[matrix.row_ptr[3] + 1]);
}

TEST(AlbusSlices, HoldTheDiagonalsOfEachSliceWithTheirMasks) {
  CsrMatrix<double> a;  // 64 rows of the distances 0 and 2; row 9 lacks the first one
  a.rows = 64;
  a.cols = 80;
  for (std::int32_t row = 0; row < 64; ++row) {
    if (row != 9) a.col_idx.push_back(row);
    for (const std::int32_t distance : {2, 3, 7}) a.col_idx.push_back(row + distance);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  for (std::size_t k = 0; k < a.col_idx.size(); ++k) a.values.push_back(static_cast<double>(k + 1));
  const auto layout = layout_with_slices(a, 1);
  const albus::Part& part = layout.parts[0];
  ASSERT_EQ(rows_in(RowOrder::masked_diagonals, layout), 64);
  EXPECT_EQ((std::vector<int>(part.offsets.begin(), part.offsets.begin() + 8)),
            (std::vector<int>{0, 2, 3, 7, 0, 2, 3, 7}));
  EXPECT_EQ((std::vector<int>(part.masks.begin(), part.masks.begin() + 6)),
            (std::vector<int>{0xff, 0xff, 0xff, 0xff, 0xfd, 0xff}));
  EXPECT_EQ((std::vector<double>(layout.placed.begin() + 32, layout.placed.begin() + 35)),
            (std::vector<double>{33, 0, 40}))
      << "rows 8 to 10, of which row 9 lacks the first";
}

// One row of a slice has a column at a distance at which another row of the slice is outside of x.
TEST(AlbusSlices, HoldNoDiagonalThatBeginsBeforeXOrEndsBehindIt) {
  for (const bool at_the_end : {false, true}) {
    CsrMatrix<double> a;
    a.rows = 64;
    a.cols = 67;
    for (std::int32_t row = 0; row < a.rows; ++row) {
      if (!at_the_end && row == 7) a.col_idx.push_back(3);
      for (const std::int32_t distance : {0, 1, 2, 3}) a.col_idx.push_back(row + distance);
      if (at_the_end && row == 56) a.col_idx.push_back(66);
      a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
    }
    a.values = test::random_vector<double>(std::ssize(a.col_idx), 31);
    const auto layout = layout_with_slices(a, 1);
    EXPECT_EQ(rows_in(RowOrder::masked_diagonals, layout), 56);
    for (const albus::Window& window : layout.parts[0].windows)
      EXPECT_EQ(window.order == RowOrder::masked_diagonals,
                window.first_row == (at_the_end ? 0 : 8));
    test::expect_product_of_parts<double>(layout, a);
  }
}

TEST(AlbusSlices, AreForRowsThatTheySaveTime) {
  const auto share = [](RowOrder order, const CsrMatrix<double>& matrix) {
    return static_cast<double>(rows_in(order, layout_with_slices(matrix, 2))) /
           static_cast<double>(matrix.rows);
  };
  EXPECT_GT(share(RowOrder::masked_diagonals, stencil_with_holes<double>(3001, 3001, 20)), 0.7);
  EXPECT_EQ(share(RowOrder::masked_diagonals, scattered<double>(3001, 3001, 9)), 0);
  EXPECT_GT(share(RowOrder::sorted_slices, scattered<double>(3001, 3001, 9)), 0.9);
  EXPECT_EQ(share(RowOrder::sorted_slices, scattered<double>(3001, 3000000, 9)), 0)
      << "columns too far apart for 16 bits";
  const auto long_rows = test::matrix_with_row_lengths<double>({70, 80, 90, 300}, 3000);
  EXPECT_EQ(share(RowOrder::sorted_slices, long_rows), 0);
}

// Walks through the slices of `window`, and marks their nonzeros in `seen`.
void expect_nonzeros(const albus::Layout<double>& layout, const albus::Part& part,
                     const albus::Window& window, const CsrMatrix<double>& matrix,
                     std::vector<int>& seen) {
  const bool sorted = window.order == RowOrder::sorted_slices;
  const double* values = layout.values_of(part, window);
  std::int32_t mask = window.first_mask, column = window.first_column;
  for (std::int32_t slice = 0; slice < window.runs; ++slice) {
    const albus::Steps steps = part.steps[window.first_run + slice];
    std::vector<std::int32_t> passed(albus::kSliceRows);
    for (std::int32_t step = 0; step < steps.all; ++step) {
      const int bits = step < steps.full ? 0xff : part.masks[mask++];
      for (std::int32_t lane = 0; lane < albus::kSliceRows; ++lane, ++values) {
        const std::int32_t at = slice * albus::kSliceRows + lane;
        if ((bits >> lane & 1) == 0) {
          EXPECT_EQ(*values, 0);
          continue;
        }
        ASSERT_LT(at, window.rows);
        const std::int32_t row =
            window.first_row + (sorted ? part.slice_rows[window.first_slot + at] : at);
        const std::int32_t k = matrix.row_ptr[row] + passed[lane]++;
        ASSERT_LT(k, matrix.row_ptr[row + 1]);
        ++seen[k];
        EXPECT_EQ(*values, matrix.values[k]);
        EXPECT_EQ(sorted ? window.base + part.narrow_col_idx[column + 8 * step + lane]
                         : row + part.offsets[column + step],
                  matrix.col_idx[k]);
      }
    }
    column += sorted ? albus::kSliceRows * steps.all : steps.all;
  }
}

TEST(AlbusSlices, HoldEveryNonzeroOfTheirRowsOnce) {
  auto matrices = sliced_matrices<double>();
  for (const auto& [name, matrix] : test::contract_shapes<double>())
    matrices.emplace_back(name, matrix);
  for (const auto& [name, matrix] : matrices)
    for (const std::int64_t count : {1, 3}) {
      SCOPED_TRACE(name);
      const auto layout = layout_with_slices(matrix, count);
      std::vector<int> seen(matrix.nnz(), 0);
      for (const albus::Part& part : layout.parts)
        for (const albus::Window& window : part.windows) {
          const auto begin = matrix.row_ptr[window.first_row];
          const auto end = matrix.row_ptr[window.first_row + window.rows];
          EXPECT_EQ(window.first_nonzero, begin);
          if (!window.in_slices()) continue;
          expect_nonzeros(layout, part, window, matrix, seen);
          EXPECT_TRUE(std::all_of(seen.begin() + begin, seen.begin() + end,
                                  [](int times) { return times == 1; }));
        }
    }
}

template <class Value>
class AlbusSliceValues : public testing::Test {};
using ValueTypes = testing::Types<double, float, std::int32_t>;
TYPED_TEST_SUITE(AlbusSliceValues, ValueTypes);

TYPED_TEST(AlbusSliceValues, MatchTheReferenceInAnyNumberOfParts) {
  for (const auto& [name, matrix] : sliced_matrices<TypeParam>())
    for (const std::int64_t count : {1, 3, 16})
      for (const bool gathers : {false, true})
        for (const bool fetch : {false, true}) {
          SCOPED_TRACE(name + " in " + std::to_string(count) + " parts");
          auto layout = layout_with_slices(matrix, count);
          ASSERT_GT(rows_in(RowOrder::masked_diagonals, layout) +
                        rows_in(RowOrder::sorted_slices, layout),
                    matrix.rows / 2);
          layout.gathers = gathers;
          layout.beyond_core_cache = fetch;
          test::expect_product_of_parts<TypeParam>(layout, matrix);
        }
}

TYPED_TEST(AlbusSliceValues, TakeNewValuesAndSeveralVectors) {
  for (const auto& [name, matrix] : sliced_matrices<TypeParam>()) {
    SCOPED_TRACE(name);
    test::expect_new_values_and_vectors(matrix);
  }
}

// A lane that takes no part in a step must not see what x has there.
TEST(AlbusSlices, KeepInfinityToTheRowsThatHaveItsColumn) {
  for (const auto& [name, matrix] : sliced_matrices<double>()) {
    SCOPED_TRACE(name);
    const auto kernel = build_albus_host<double>(matrix.view());
    Array<double> x(matrix.cols, 1.0), y(matrix.rows);
    for (std::int64_t j = 0; j < matrix.cols; j += 10)
      x[j] = std::numeric_limits<double>::infinity();
    kernel->multiply(x, y, Accumulate::no);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const auto first = matrix.col_idx.begin() + matrix.row_ptr[row];
      const auto last = matrix.col_idx.begin() + matrix.row_ptr[row + 1];
      const bool has = std::any_of(first, last, [](std::int32_t j) { return j % 10 == 0; });
      ASSERT_EQ(std::isfinite(y[row]), !has) << "row " << row;
    }
  }
}

TEST(AlbusSlices, HoldRoundedValuesInMixedPrecision) {
  for (const auto& [name, matrix] : sliced_matrices<double>()) {
    SCOPED_TRACE(name);
    const auto kernel = build_albus_mixed_host(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, test::rounded_to_float(matrix).view()));
  }
}

// Beyond the cache of a core. One value decides whether all are stored in FP32.
TEST(AlbusSlices, HoldExactValuesInFloatWithTheSameBits) {
  for (const bool in_order : {true, false}) {
    const auto exact =
        test::rounded_to_float(in_order ? stencil_with_holes<double>(90000, 90000, 20)
                                        : scattered<double>(90000, 60000, 14));
    auto other = exact;
    other.values[exact.nnz() / 2] = std::numeric_limits<double>::denorm_min();
    const auto in_float = build_albus_host<double>(exact.view());
    const auto in_double = build_albus_host<double>(other.view());
    EXPECT_LT(in_float->statistics().stored_bytes, in_double->statistics().stored_bytes);
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
}

}  // namespace
}  // namespace trireme
