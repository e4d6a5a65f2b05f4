// SPDX-License-Identifier: BSD-3-Clause
// Tests the rows of ALBUS that repeat: which rows they are, and that products have the bits of
// values that are stored one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/albus/albus.hpp"
#include "kernels/albus/row_values.hpp"
#include "new_values_and_vectors.hpp"
#include "product_of_parts.hpp"
#include "stencil.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::layout_of;
using test::rows_that_repeat;
using test::stencil;

template <class Value>
Value next_value(Value value) {
  if constexpr (std::is_integral_v<Value>)
    return value + 1;
  else
    return std::nextafter(value, Value{9});
}

// In every eighth row one value differs in its last bit, so that no window repeats.
template <class Value>
CsrMatrix<Value> not_repeated(CsrMatrix<Value> matrix) {
  for (std::int64_t row = 3; row < matrix.rows; row += 8) {
    Value& value = matrix.values[matrix.row_ptr[row] + 1];
    value = next_value(value);
  }
  return matrix;
}

template <class Value>
std::vector<Value> product(HostKernel<Value>& kernel, const CsrMatrix<Value>& a,
                           std::int64_t width = 1) {
  const auto x = test::random_vector<Value>(a.cols * width, 3);
  std::vector<Value> y(a.rows * width, std::numeric_limits<Value>::max());
  MultiProduct<Value> vectors(kernel, a.rows, a.cols);
  if (width == 1)
    kernel.multiply(x, y, Accumulate::no);
  else
    vectors.multiply(side_by_side(x.data(), a.cols, width), side_by_side(y.data(), a.rows, width),
                     Accumulate::no);
  return y;
}

// The products of kernels of `matrix` and of not_repeated(matrix) in the rows that both have.
template <class Value>
void expect_bits_of_stored_values(HostKernel<Value>& repeated, HostKernel<Value>& stored,
                                  const CsrMatrix<Value>& matrix) {
  EXPECT_GT(stored.statistics().stored_bytes, 5 * repeated.statistics().stored_bytes);
  for (const std::int64_t width : {1, 2, 5, 8, 11}) {
    const auto y = product(repeated, matrix, width), expected = product(stored, matrix, width);
    for (std::int64_t row = 0; row < matrix.rows; ++row)
      ASSERT_TRUE(row % 8 == 3 ||
                  std::memcmp(&y[row * width], &expected[row * width], width * sizeof(Value)) == 0)
          << "row " << row << " of " << width << " vectors";
  }
}

TEST(AlbusRepeatedRows, StoreTheirValuesOnce) {
  const auto matrix = stencil<double>(1, 2100);
  const auto layout = layout_of(matrix, 1);
  const albus::Part& part = layout.parts[0];
  ASSERT_EQ(part.windows.size(), 4u);
  EXPECT_EQ(rows_that_repeat(layout), 2100);
  EXPECT_EQ(part.windows[2].rows, 52) << "the last slice has four rows";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(part.windows[i].first_value, 0);
  EXPECT_EQ(part.windows[3].first_value, 8) << "the row that ends the line";
  ASSERT_EQ(layout.placed.size(), 16u);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(layout.placed[k], matrix.values[k]);
}

TEST(AlbusRepeatedRows, StopInTheMiddleOfARun) {
  auto matrix = stencil<double>(1, 3000);
  for (std::int64_t k = 5 * 1500; k < 5 * 3000; ++k) matrix.values[k] += 1;
  const auto layout = layout_of(matrix, 1);
  EXPECT_EQ(rows_that_repeat(layout), 1024 + 952) << "all windows but the one in the middle";
  EXPECT_EQ(std::ssize(layout.placed), 8 + 5 * 1024 + 8 + 8);
  test::expect_product_of_parts<double>(layout, matrix);
}

// Adjacency matrices look so. The values of the longer rows begin with those of the rows before.
TEST(AlbusRepeatedRows, OfAnotherLengthAreStoredAnew) {
  CsrMatrix<double> a;
  a.rows = 192;
  a.cols = 300;
  for (std::int32_t row = 0; row < a.rows; ++row) {
    const bool longer = row / 64 == 1;
    for (std::int32_t k = 0; k < (longer ? 30 : 17); ++k) {
      a.col_idx.push_back(row + 3 * k);
      a.values.push_back(row < 128 ? 1 : 2);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  const auto layout = layout_of(a, 1);
  ASSERT_EQ(rows_that_repeat(layout), 192);
  EXPECT_EQ(std::ssize(layout.placed), 24 + 32 + 24);
  test::expect_product_of_parts<double>(layout, a);
  EXPECT_TRUE(test::matches_reference(*build_albus_host<double>(a.view()), a.view()));
}

// Each row of the first window in turn, and each place of a row.
TEST(AlbusRepeatedRows, AreNotThoseWithOneOtherBit) {
  const auto matrix = stencil<double>(2, 60);
  ASSERT_EQ(rows_that_repeat(layout_of(matrix, 1)), 120);
  for (std::int64_t k = 0; k < 5 * 60; ++k) {
    auto other = matrix;
    other.values[k] = next_value(other.values[k]);
    const auto layout = layout_of(other, 1);
    ASSERT_EQ(rows_that_repeat(layout), 60) << "value " << k;
    test::expect_product_of_parts<double>(layout, other);
  }
}

TEST(AlbusRepeatedRows, AreNotThoseWithAZeroOfAnotherSign) {
  auto matrix = stencil<double>(2, 60);
  for (std::int64_t row = 0; row < matrix.rows; ++row) matrix.values[matrix.row_ptr[row]] = -0.0;
  EXPECT_EQ(rows_that_repeat(layout_of(matrix, 1)), 120);
  matrix.values[5 * 33] = 0.0;
  EXPECT_EQ(rows_that_repeat(layout_of(matrix, 1)), 60);
  matrix = stencil<double>(2, 60);
  for (std::int64_t row = 0; row < 60; ++row) matrix.values[matrix.row_ptr[row]] = 0.0;
  for (std::int64_t row = 61; row < 121; ++row) matrix.values[matrix.row_ptr[row]] = -0.0;
  const auto layout = layout_of(matrix, 1);
  EXPECT_EQ(rows_that_repeat(layout), 120);
  const albus::Part& part = layout.parts[0];
  EXPECT_FALSE(std::signbit(layout.values_of(part, part.windows[0])[0]));
  EXPECT_TRUE(std::signbit(layout.values_of(part, part.windows[2])[0]))
      << "the second line has values of its own";
}

TEST(AlbusRepeatedRows, KeepNaNInItsRows) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto matrix = stencil<double>(40, 300);
  const auto is_nan = [&](std::int64_t row) {
    const auto y = product(*build_albus_host<double>(matrix.view()), matrix);
    std::int64_t others = 0;
    for (std::int64_t i = 0; i < matrix.rows; ++i) others += i != row && std::isnan(y[i]);
    return others == 0 && std::isnan(y[row]);
  };
  for (const std::int64_t row : {0, 150, 299, 301 * 20 + 299}) {
    const double before = std::exchange(matrix.values[matrix.row_ptr[row] + 1], nan);
    EXPECT_TRUE(is_nan(row)) << row;
    matrix.values[matrix.row_ptr[row] + 1] = before;
  }
  for (std::int64_t row = 0; row < matrix.rows; ++row) matrix.values[matrix.row_ptr[row]] = nan;
  EXPECT_EQ(rows_that_repeat(layout_of(matrix, 1)), 40 * 300);
  for (const double y : product(*build_albus_host<double>(matrix.view()), matrix))
    ASSERT_TRUE(std::isnan(y));
}

// An entry of x that is NaN reaches the rows with its column, and no others.
TEST(AlbusRepeatedRows, ReadOnlyTheirEntriesOfX) {
  const auto matrix = stencil<double>(30, 301);
  const auto kernel = build_albus_host<double>(matrix.view());
  auto x = test::random_vector<double>(matrix.cols, 3);
  for (std::int64_t i = 0; i < matrix.cols; i += 97)
    x[i] = std::numeric_limits<double>::quiet_NaN();
  auto y = test::poisoned_vector<double>(matrix.rows);
  kernel->multiply(x, y, Accumulate::no);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    bool expected = false;
    for (std::int32_t k = matrix.row_ptr[row]; k < matrix.row_ptr[row + 1]; ++k)
      expected |= std::isnan(x[matrix.col_idx[k]]);
    ASSERT_EQ(std::isnan(y[row]), expected) << row;
  }
}

TEST(AlbusRepeatedRows, HoldEveryValueWhereTheFinderSays) {
  for (const std::int64_t rows_of_line : {61, 64, 1500}) {
    const auto matrix = stencil<double>(5, rows_of_line);
    const auto layout = layout_of(matrix, 3);
    ASSERT_GT(rows_that_repeat(layout), 0);
    albus::RowValuesFinder<double> finder(layout, 0);
    for (std::int32_t row = 0; row < matrix.rows; ++row) {
      const std::int32_t begin = matrix.row_ptr[row];
      const auto found = finder.of(row, begin);
      for (std::int32_t k = begin; k < matrix.row_ptr[row + 1]; ++k)
        ASSERT_EQ(found.first[(k - begin) * found.stride], matrix.values[k]) << "row " << row;
    }
  }
}

template <class Value>
class AlbusRepeatedValues : public testing::Test {};
using ValueTypes = testing::Types<double, float, std::int32_t>;
TYPED_TEST_SUITE(AlbusRepeatedValues, ValueTypes);

// Lines that end before, at and behind the ends of slices and windows.
TYPED_TEST(AlbusRepeatedValues, MatchTheReferenceInAnyNumberOfParts) {
  for (const std::int64_t rows_of_line : {31, 32, 33, 100, 1023, 1024, 1025, 1041, 2100})
    for (const std::int64_t count : {1, 2, 3, 5}) {
      SCOPED_TRACE(std::to_string(rows_of_line) + " rows, " + std::to_string(count) + " parts");
      const auto matrix = stencil<TypeParam>(4, rows_of_line);
      const auto layout = layout_of(matrix, count);
      EXPECT_GE(rows_that_repeat(layout), 4 * rows_of_line - 32 * count);
      test::expect_product_of_parts<TypeParam>(layout, matrix);
    }
}

TYPED_TEST(AlbusRepeatedValues, HaveTheBitsOfStoredValues) {
  for (const std::int64_t rows_of_line : {403, 1000, 5000}) {
    const auto matrix = stencil<TypeParam>(6, rows_of_line);
    const auto other = not_repeated(matrix);
    expect_bits_of_stored_values<TypeParam>(*build_albus_host<TypeParam>(matrix.view()),
                                            *build_albus_host<TypeParam>(other.view()), matrix);
  }
}

TYPED_TEST(AlbusRepeatedValues, RepeatOrNotAsNewValuesDo) {
  const auto matrix = stencil<TypeParam>(20, 500);
  const auto other = not_repeated(matrix);
  const auto kernel = build_albus_host<TypeParam>(matrix.view());
  const auto stored = build_albus_host<TypeParam>(other.view());
  const auto y = product(*kernel, matrix), other_y = product(*stored, other);
  const std::int64_t bytes = kernel->statistics().stored_bytes;
  for (int time = 0; time < 2; ++time) {
    kernel->update_values(other.values);
    EXPECT_EQ(kernel->statistics().stored_bytes, stored->statistics().stored_bytes);
    EXPECT_EQ(product(*kernel, other), other_y);
    EXPECT_TRUE(test::matches_reference(*kernel, other.view()));
    test::expect_products_of_vectors(*kernel, other, 5);
    kernel->update_values(matrix.values);
    EXPECT_EQ(kernel->statistics().stored_bytes, bytes);
    EXPECT_EQ(product(*kernel, matrix), y);
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
    test::expect_products_of_vectors(*kernel, matrix, 5);
  }
}

TEST(AlbusRepeatedRows, HaveTheBitsOfStoredValuesInMixedPrecision) {
  const auto matrix = stencil<double>(6, 1000);
  const auto other = not_repeated(matrix);
  const auto kernel = build_albus_mixed_host(matrix.view());
  expect_bits_of_stored_values<double>(*kernel, *build_albus_mixed_host(other.view()), matrix);
  kernel->update_values(other.values);
  EXPECT_TRUE(test::matches_reference(*kernel, test::rounded_to_float(other).view()));
  kernel->update_values(matrix.values);
  EXPECT_TRUE(test::matches_reference(*kernel, test::rounded_to_float(matrix).view()));
}

// Beyond the caches FP32 represents these values exactly, until one is changed.
TEST(AlbusRepeatedRows, HoldExactValuesInFloatWithTheSameBits) {
  const auto exact = test::rounded_to_float(stencil<double>(40, 5003));
  auto other = exact;
  for (double& value : other.values) value += 0x1p-50;
  const auto in_float = build_albus_host<double>(exact.view());
  const auto in_double = build_albus_host<double>(other.view());
  EXPECT_LT(in_float->statistics().stored_bytes, in_double->statistics().stored_bytes);
  EXPECT_TRUE(test::matches_reference(*in_double, other.view()));
  const auto y = product(*in_float, exact);
  in_double->update_values(exact.values);
  EXPECT_EQ(product(*in_double, exact), y);
  auto one_other = exact;
  one_other.values[exact.nnz() / 2] = std::numeric_limits<double>::denorm_min();
  in_float->update_values(one_other.values);
  EXPECT_TRUE(test::matches_reference(*in_float, one_other.view()));
  in_float->update_values(exact.values);
  EXPECT_EQ(product(*in_float, exact), y);
}

}  // namespace
}  // namespace trireme
