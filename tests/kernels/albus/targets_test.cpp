// SPDX-License-Identifier: BSD-3-Clause
// Tests products by the code of each instruction set that this CPU has, also of those that it would
// not choose.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "hwy/targets.h"
#include "new_values_and_vectors.hpp"
#include "stencil.hpp"
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
  if constexpr (std::is_same_v<Value, float>) {
    EXPECT_TRUE(test::sums_in_fp64(*kernel, a.view(), test::roundings_of_shares("albus")));
  }
  for (const std::int64_t width : {1, 2, 3, 5, 8, 11, 32}) {
    SCOPED_TRACE(width);
    test::expect_products_of_vectors(*kernel, a, width);
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
    for (const std::int64_t rows_of_line : {1001, 1006}) {
      SCOPED_TRACE("stencil");
      expect_products<Value>({"stencil", test::stencil<Value>(6, rows_of_line)});
      auto other = test::stencil<Value>(6, rows_of_line);
      other.values = test::random_vector<Value>(other.nnz(), 8);
      expect_products<Value>({"stencil with values of its own", std::move(other)});
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
