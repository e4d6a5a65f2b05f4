// SPDX-License-Identifier: BSD-3-Clause
// Tests products by the code of each instruction set that this CPU has, also of those that it would not
// choose.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "hwy/targets.h"
#include "kernels/albus/albus.hpp"
#include "kernels/multi_product.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

// Highway runs the code of `target` alone while the object lives.
class WithTarget {
 public:
  explicit WithTarget(std::int64_t target) { choose(target); }
  ~WithTarget() { choose(0); }
  WithTarget(const WithTarget&) = delete;
  WithTarget& operator=(const WithTarget&) = delete;

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
  }
};

template <class Value>
void expect_products(const test::Shape<Value>& shape) {
  const auto& a = shape.matrix;
  const auto kernel = build_albus_host<Value>(a.view());
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
  MultiProduct<Value> product(*kernel, a.rows, a.cols);
  for (const std::int64_t width : {1, 2, 3, 5, 8, 11, 32}) {
    SCOPED_TRACE(width);
    const Array<Value> x = test::random_vector<Value>(a.cols * width, 3);
    Array<Value> y = test::poisoned_vector<Value>(a.rows * width);
    product.multiply(side_by_side(x.data(), a.cols, width), side_by_side(y.data(), a.rows, width),
                     Accumulate::no);
    for (std::int64_t j = 0; j < width; ++j) {
      Array<Value> x_j(a.cols), y_j(a.rows);
      for (std::int64_t i = 0; i < a.cols; ++i) x_j[i] = x[i * width + j];
      for (std::int64_t i = 0; i < a.rows; ++i) y_j[i] = y[i * width + j];
      EXPECT_TRUE(test::judge(compare_product<Value>(a.view(), x_j, y_j), "Y = A X"));
    }
  }
}

template <class Value>
void expect_products_by_every_target() {
  std::int64_t tested = 0;
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    if ((target & (HWY_SSSE3 | HWY_AVX3_DL | HWY_EMU128 | HWY_SCALAR)) != 0) continue;
    SCOPED_TRACE(hwy::TargetName(target));
    const WithTarget only(target);
    for (const auto& shape : test::contract_shapes<Value>()) {
      SCOPED_TRACE(shape.name);
      expect_products(shape);
    }
    ++tested;
  }
  EXPECT_GT(tested, 0);
}

TEST(AlbusTargets, MultiplyByTheCodeOfEachInstructionSet) {
  expect_products_by_every_target<double>();
  expect_products_by_every_target<float>();
}

}  // namespace
}  // namespace trireme
