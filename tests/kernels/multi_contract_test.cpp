// SPDX-License-Identifier: BSD-3-Clause
// Tests the product with several vectors on every host kernel of the registry: each vector of the
// result is judged by the independent reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "kernels/multi_product.hpp"
#include "kernels/registry.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

enum class Layout { side_by_side, one_after_the_other, with_gaps };

// Vectors in one of the layouts, and the memory that holds them.
template <class Value>
struct Vectors {
  Array<Value> memory;
  MultiVector<Value> view;
};

template <class Value>
Vectors<Value> vectors_of(Layout layout, std::int64_t rows, std::int64_t width) {
  const std::int64_t gap = layout == Layout::with_gaps ? 3 : 0;
  Vectors<Value> made;
  made.memory = test::poisoned_vector<Value>((rows + gap) * (width + gap));
  Value* data = made.memory.data();
  made.view = layout == Layout::one_after_the_other ? one_after_the_other(data, rows, width)
                                                    : side_by_side(data, rows, width + gap);
  made.view.width = width;
  return made;
}

template <class Value>
Array<Value> column(MultiVector<const Value> v, std::int64_t j) {
  Array<Value> values(v.rows);
  for (std::int64_t i = 0; i < v.rows; ++i) values[i] = v(i, j);
  return values;
}

template <class Value>
void fill(MultiVector<Value> v, std::uint64_t seed) {
  test::Random random(seed);
  for (std::int64_t j = 0; j < v.width; ++j)
    for (std::int64_t i = 0; i < v.rows; ++i) v(i, j) = random.value<Value>();
}

template <class Value>
void expect_products(HostKernel<Value>& kernel, const CsrView<Value>& a, std::int64_t width,
                     Layout layout) {
  MultiProduct<Value> product(kernel, a.rows, a.cols);
  const Vectors<Value> x = vectors_of<Value>(layout, a.cols, width);
  const Vectors<Value> y = vectors_of<Value>(layout, a.rows, width);
  fill(x.view, 5);
  product.multiply(x.view, y.view, Accumulate::no);
  for (std::int64_t j = 0; j < width; ++j)
    EXPECT_TRUE(test::judge(
        compare_product<Value>(a, column<Value>(x.view, j), column<Value>(y.view, j)), "Y = A X"))
        << "vector " << j;

  fill(y.view, 6);
  const Vectors<Value> before = vectors_of<Value>(layout, a.rows, width);
  fill(before.view, 6);
  product.multiply(x.view, y.view, Accumulate::yes);
  for (std::int64_t j = 0; j < width; ++j)
    EXPECT_TRUE(
        test::judge(compare_product<Value>(a, column<Value>(x.view, j), column<Value>(y.view, j),
                                           column<Value>(before.view, j)),
                    "Y += A X"))
        << "vector " << j;
}

class MultiContract : public testing::TestWithParam<std::string> {
 protected:
  template <class Check>
  void for_each_value_type(Check&& check) {
    const KernelEntry& entry = find_kernel(GetParam());
    if (entry.host<double>()) check.template operator()<double>();
    if (entry.host<float>()) check.template operator()<float>();
    if (entry.host<std::int32_t>()) check.template operator()<std::int32_t>();
  }
};

TEST_P(MultiContract, MatchesReferenceForEveryWidth) {
  for_each_value_type([&]<class Value>() {
    for (const std::string name : {"AllMixed", "OneDenseRow"}) {
      const auto a = test::contract_shape<Value>(name);
      const auto kernel = build_host_kernel<Value>(GetParam(), a.view());
      for (const std::int64_t width : {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 100}) {
        SCOPED_TRACE(name + ", " + std::to_string(width) + " vectors");
        expect_products(*kernel, a.view(), width, Layout::side_by_side);
      }
    }
  });
}

TEST_P(MultiContract, MatchesReferenceOnEveryShapeAndLayout) {
  for_each_value_type([&]<class Value>() {
    for (const auto& [name, a] : test::contract_shapes<Value>()) {
      SCOPED_TRACE(name);
      const auto kernel = build_host_kernel<Value>(GetParam(), a.view());
      for (const Layout layout :
           {Layout::side_by_side, Layout::one_after_the_other, Layout::with_gaps})
        expect_products(*kernel, a.view(), 9, layout);
    }
  });
}

TEST_P(MultiContract, RefusesVectorsThatShareMemoryAndSizesThatDisagree) {
  const auto a = test::contract_shape<double>("AllMixed");
  const auto kernel = build_host_kernel<double>(GetParam(), a.view());
  MultiProduct<double> product(*kernel, a.rows, a.cols);
  Array<double> memory(3 * (a.rows + a.cols));
  double* const end_of_x = memory.data() + 3 * a.cols;
  const auto x = side_by_side(memory.data(), a.cols, 3);
  const auto refuses = [&](MultiVector<double> from, MultiVector<double> to) {
    EXPECT_THROW(product.multiply(from, to, Accumulate::no), Error);
  };
  EXPECT_NO_THROW(product.multiply(x, side_by_side(end_of_x, a.rows, 3), Accumulate::no));
  refuses(x, side_by_side(end_of_x - 1, a.rows, 3));
  refuses(x, side_by_side(end_of_x, a.rows, 2));
  refuses(x, side_by_side(end_of_x, a.rows - 1, 3));
  refuses(side_by_side(memory.data(), a.cols - 1, 3), side_by_side(end_of_x, a.rows, 3));
}

std::vector<std::string> kernels_in_double() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_double) names.emplace_back(entry.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, MultiContract, testing::ValuesIn(kernels_in_double()), test_name);

}  // namespace
}  // namespace trireme
