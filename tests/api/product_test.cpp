// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>

#include "systems.hpp"

namespace trireme::api {
namespace {

using test::random_vector;
using test::System;
using test::system_of;

void expect_near(const std::vector<double>& y, const std::vector<double>& expected) {
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12) << i;
}

TEST(ApiProduct, EveryKernelMultipliesRectangularMatrices) {
  const System a = system_of(70, 41, [](auto i, auto j) {
    return i != 13 && (i * 7 + j * 5) % 6 == 0 ? 1.0 + 0.1 * static_cast<double>(j) : 0.0;
  });
  const std::vector<double> x = random_vector(41);
  for (const KernelFacts& kernel : kernels()) {
    if (!kernel.on_cpu) continue;
    SCOPED_TRACE(kernel.name);
    Product product(a.arrays(), kernel.name, "cpu");
    EXPECT_EQ(product.rows(), 70);
    EXPECT_EQ(product.cols(), 41);
    std::vector<double> y(70, std::numeric_limits<double>::quiet_NaN());
    product.multiply(x, y);
    expect_near(y, a.times(x));
  }
}

TEST(ApiProduct, TransposedAndSeveralVectors) {
  const System a = system_of(30, 20, [](auto i, auto j) {
    return (i + j) % 3 == 0 ? 1.0 + static_cast<double>(i - j) : 0.0;
  });
  const System transposed = system_of(20, 30, [](auto i, auto j) {
    return (i + j) % 3 == 0 ? 1.0 + static_cast<double>(j - i) : 0.0;
  });
  Product product(a.arrays(), "auto", "cpu");
  const std::vector<double> r = random_vector(30);
  std::vector<double> z(20, std::numeric_limits<double>::quiet_NaN());
  product.multiply_transposed(r, z);
  expect_near(z, transposed.times(r));
  for (const std::int64_t width : {1, 3, 8, 0}) {
    const std::vector<double> x = random_vector(20 * width);
    std::vector<double> y(30 * width);
    product.multiply_many(x, y, width);
    for (std::int64_t j = 0; j < width; ++j) {
      std::vector<double> one_x, one_y;
      for (std::int64_t i = 0; i < 20; ++i) one_x.push_back(x[i * width + j]);
      for (std::int64_t i = 0; i < 30; ++i) one_y.push_back(y[i * width + j]);
      expect_near(one_y, a.times(one_x));
    }
  }
  EXPECT_THROW(product.multiply(r, z), Failure);
}

TEST(ApiProduct, NamesWhatIsThere) {
  EXPECT_GT(kernels().size(), 5u);
  EXPECT_EQ(preconditioners().front(), "none");
  EXPECT_EQ(methods().front(), "cg");
}

}  // namespace
}  // namespace trireme::api
