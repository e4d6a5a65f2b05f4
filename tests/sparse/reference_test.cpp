// SPDX-License-Identifier: BSD-3-Clause
// Tests that the reference accepts right products of every value type and rejects slightly wrong
// ones.
#include "sparse/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/half.hpp"
#include "kernels/csr/csr.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

template <class Value>
class ReferenceTest : public testing::Test {};
using HostValues = testing::Types<double, float, std::int32_t>;
TYPED_TEST_SUITE(ReferenceTest, HostValues);

TYPED_TEST(ReferenceTest, AcceptsThePlainRowLoopOnEveryShape) {
  for (const Shape<TypeParam>& shape : contract_shapes<TypeParam>()) {
    SCOPED_TRACE(shape.name);
    const auto kernel = build_csr_host<TypeParam>(shape.matrix.view());
    EXPECT_TRUE(matches_reference(*kernel, shape.matrix.view()));
  }
}

TYPED_TEST(ReferenceTest, AcceptsItsOwnRoundedProduct) {
  const auto a = contract_shape<TypeParam>("AllMixed");
  const auto x = random_vector<TypeParam>(a.cols, 3);
  const Array<TypeParam> y = reference_product<TypeParam>(a.view(), x);
  EXPECT_LE(compare_product<TypeParam>(a.view(), x, y).worst_ratio, 0.5);
}

TYPED_TEST(ReferenceTest, NamesTheWrongRow) {
  const auto a = contract_shape<TypeParam>("ShortAndMedium");
  const auto x = random_vector<TypeParam>(a.cols, 3);
  Array<TypeParam> y = reference_product<TypeParam>(a.view(), x);
  y[1717] += 1;
  const ComparisonResult result = compare_product<TypeParam>(a.view(), x, y);
  EXPECT_FALSE(result.within_bound());
  EXPECT_EQ(result.worst_row, 1717);
  EXPECT_NEAR(result.largest_difference, 1, 1e-5);
}

TEST(Reference, SeesAnErrorOfAFewUnitsInTheLastPlace) {
  const auto a = matrix_with_row_lengths<double>({4}, 10, 5);
  const Array<double> x(10, 1.0);
  double magnitude = 0;
  for (const double value : a.values) magnitude += std::fabs(value);
  Array<double> y = reference_product<double>(a.view(), x);
  const double unit = 4 * std::numeric_limits<double>::epsilon() * magnitude;
  y[0] += 0.9 * unit;
  EXPECT_TRUE(compare_product<double>(a.view(), x, y).within_bound());
  y[0] += 2.1 * unit;
  EXPECT_FALSE(compare_product<double>(a.view(), x, y).within_bound());
}

TEST(Reference, NanAndWrongEmptyRowsAreInfinitelyWrong) {
  const auto a = matrix_with_row_lengths<double>({2, 0, 3}, 10, 5);
  const Array<double> x(10, 1.0);
  Array<double> y = reference_product<double>(a.view(), x);
  y[1] = 1e-300;
  EXPECT_TRUE(std::isinf(compare_product<double>(a.view(), x, y).worst_ratio));
  y[1] = std::numeric_limits<double>::quiet_NaN();
  const ComparisonResult result = compare_product<double>(a.view(), x, y);
  EXPECT_FALSE(result.within_bound());
  EXPECT_EQ(result.worst_row, 1);
}

TEST(Reference, AccumulatedProductsCountTheOldValueAsATerm) {
  const auto a = matrix_with_row_lengths<double>({2, 0, 3}, 10, 5);
  const Array<double> x(10, 1.0);
  const Array<double> before = {1e9, 7, -3};
  Array<double> y = reference_product<double>(a.view(), x);
  for (int row = 0; row < 3; ++row) y[row] += before[row];
  EXPECT_TRUE(compare_product<double>(a.view(), x, y, before).within_bound());
  y[1] = std::nextafter(7.0, 8.0);
  EXPECT_EQ(compare_product<double>(a.view(), x, y, before).worst_row, 1);
}

TEST(Reference, IntegersWrapAround) {
  CsrMatrix<std::int32_t> a{1, 2, {0, 2}, {0, 1}, {2000000000, 2000000000}};
  const Array<std::int32_t> x = {3, 2};
  const Array<std::int32_t> y = {
      static_cast<std::int32_t>(static_cast<std::uint32_t>(10000000000))};
  EXPECT_EQ(compare_product<std::int32_t>(a.view(), x, y).worst_ratio, 0);
}

TEST(Reference, HalfIsJudgedByItsOwnEpsilon) {
  const auto a = contract_shape<Half>("OnlyMediumRows");
  const auto x = random_vector<Half>(a.cols, 3);
  Array<Half> y = reference_product<Half>(a.view(), x);
  EXPECT_LE(compare_product<Half>(a.view(), x, y).worst_ratio, 0.5);
  y[10] = Half(static_cast<float>(y[10]) + 100);
  EXPECT_EQ(compare_product<Half>(a.view(), x, y).worst_row, 10);
}

// A row of four ones times a vector of ones: the bound is 4 eps 4.
template <class Value, class Vector>
double ratio_of_one_bound(double epsilon) {
  CsrMatrix<Value> a{1, 4, {0, 4}, {0, 1, 2, 3}, Array<Value>(4, Value(1.0f))};
  const Array<Vector> x(4, Vector(1.0f)), y{static_cast<Vector>(4 + 16 * epsilon)};
  return compare_product<Value, Vector>(a.view(), x, y).worst_ratio;
}

TEST(Reference, TheBoundIsThatOfTheVectorsPrecision) {
  EXPECT_NEAR((ratio_of_one_bound<double, double>(0x1p-52)), 1, 1e-4);
  EXPECT_NEAR((ratio_of_one_bound<float, float>(0x1p-23)), 1, 1e-4);
  EXPECT_NEAR((ratio_of_one_bound<float, double>(0x1p-52)), 1, 1e-4);
  EXPECT_NEAR((ratio_of_one_bound<Half, Half>(0x1p-10)), 1, 1e-4);
}

TEST(Reference, MixedStorageIsJudgedInDouble) {
  const auto a = contract_shape<float>("OnlyShortRows");
  const auto x = random_vector<double>(a.cols, 3);
  Array<double> y = reference_product<float, double>(a.view(), x);
  EXPECT_TRUE((compare_product<float, double>(a.view(), x, y).within_bound()));
  y[10] *= 1 + 1e-9;
  EXPECT_FALSE((compare_product<float, double>(a.view(), x, y).within_bound()));
}

TEST(Reference, RefusesVectorsOfTheWrongSize) {
  const auto a = contract_shape<double>("Wide");
  const Array<double> x(a.cols), y(a.rows + 1);
  EXPECT_THROW(compare_product<double>(a.view(), x, y), Error);
}

}  // namespace
}  // namespace trireme::test
