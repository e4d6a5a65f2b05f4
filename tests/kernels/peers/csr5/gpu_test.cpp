// SPDX-License-Identifier: BSD-3-Clause
// Tests of CSR5 on the GPU with every sigma, and with rows over many thread blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/device.hpp"
#include "kernels/peers/csr5/same_arrays.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

template <class Value>
class Csr5OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(Csr5OnDevice, ValueTypes);

// The shapes of the contract, and rows of more than 256 nonzeros, of 32 and of 17 to 31, so that
// every sigma of the paper's rule occurs; rows that go through many thread blocks; and runs of
// empty rows that are longer than a tile.
template <class Value>
std::vector<Shape<Value>> shapes_of_every_sigma() {
  auto shapes = contract_shapes<Value>();
  const auto add = [&](const char* name, const std::vector<std::int64_t>& lengths,
                       std::int64_t cols) {
    shapes.push_back({name, matrix_with_row_lengths<Value>(lengths, cols, 41, Columns::unsorted)});
  };
  for (const std::int64_t mean : {5, 8, 9, 16, 17, 26, 31, 32})
    add("Sigma", random_lengths(1500, mean - 3, mean + 4, mean), 4000);
  add("VeryLongRows", random_lengths(300, 200, 600), 4000);
  std::vector<std::int64_t> dense(2000, 2);
  dense[0] = dense[777] = dense[778] = dense[1999] = 60'000;
  add("RowsOverManyBlocks", dense, 60'000);
  std::vector<std::int64_t> gaps(60'000, 0);
  for (std::size_t row = 5; row < gaps.size(); row += row % 3 == 0 ? 1 : 4099) gaps[row] = 37;
  add("LongGaps", gaps, 500);
  return shapes;
}

TYPED_TEST(Csr5OnDevice, HasTheArraysOfTheHostWithEverySigma) {
  for (const auto& [name, matrix] : shapes_of_every_sigma<TypeParam>()) {
    SCOPED_TRACE(name);
    Csr5::expect_same_arrays(matrix);
  }
}

TYPED_TEST(Csr5OnDevice, MultipliesWithEverySigma) {
  for (const auto& [name, matrix] : shapes_of_every_sigma<TypeParam>()) {
    SCOPED_TRACE(name);
    DeviceProduct<TypeParam, TypeParam> product(build_csr5_cuda<TypeParam>, matrix);
    EXPECT_TRUE(matches_reference(product));
    EXPECT_TRUE(matches_reference(product)) << "the counters of the thread blocks are not zero";
    if (product.kernel().dot_partials() > 0) expect_dot(product);
  }
}

TYPED_TEST(Csr5OnDevice, GivesTheSameBitsWhereRowsGoThroughManyBlocks) {
  for (const auto& [name, matrix] : shapes_of_every_sigma<TypeParam>()) {
    if (name != "RowsOverManyBlocks") continue;
    DeviceProduct<TypeParam, TypeParam> product(build_csr5_cuda<TypeParam>, matrix);
    const auto x = random_vector<TypeParam>(matrix.cols);
    const auto first = product.multiply(x);
    for (int run = 0; run < 100; ++run) ASSERT_TRUE(same_bits(first, product.multiply(x))) << run;
  }
}

TYPED_TEST(Csr5OnDevice, AnInfiniteEntryOfXReachesOnlyTheRowsWithItsColumn) {
  const auto a = contract_shape<TypeParam>("AllMixed");
  DeviceProduct<TypeParam, TypeParam> product(build_csr5_cuda<TypeParam>, a);
  for (std::int64_t bad = 0; bad < a.cols; bad += 501) {
    auto x = random_vector<TypeParam>(a.cols);
    x[bad] = std::numeric_limits<TypeParam>::infinity();
    const auto y = product.multiply(x);
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const auto first = a.col_idx.begin() + a.row_ptr[row];
      const auto last = a.col_idx.begin() + a.row_ptr[row + 1];
      EXPECT_EQ(std::isfinite(y[row]), std::find(first, last, bad) == last) << row;
    }
  }
}

}  // namespace
}  // namespace trireme::test
