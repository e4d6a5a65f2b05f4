// SPDX-License-Identifier: BSD-3-Clause
// Every kernel on the host multiplies by A in every order of its rows.
#include <gtest/gtest.h>

#include <string>

#include "kernels/registry.hpp"
#include "ordering/ordering.hpp"
#include "sparse/permuted.hpp"
#include "support/host_product.hpp"
#include "support/refusal.hpp"
#include "support/square_shapes.hpp"

namespace trireme {
namespace {

class OrderedContract : public testing::TestWithParam<std::string> {};

// P x, the product by P A P^T, and P^T y, compared with the reference product of A.
TEST_P(OrderedContract, MultipliesByEveryShapeInEveryOrder) {
  for (const auto& [name, a] : test::square_shapes())
    for (const Ordering ordering : {Ordering::rcm, Ordering::cluster}) {
      SCOPED_TRACE(name + ", " + std::string(to_string(ordering)));
      const Array<std::int32_t> order = make_order(ordering, a.view());
      const PermutedCsr permuted = permuted_square(a.view(), order);
      const auto kernel = test::build_or_refuse<double>(GetParam(), permuted.matrix.view());
      if (!kernel) continue;
      const Array<double> x = test::random_vector<double>(a.cols, 7);
      Array<double> px(x.size()), py = test::poisoned_vector<double>(a.rows), y(x.size());
      permute<double>(x, order, px);
      kernel->multiply(px, py, Accumulate::no);
      permute_back<double>(py, order, y);
      EXPECT_TRUE(test::judge(compare_product<double>(a.view(), x, y), "y = A x"));
    }
}

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_double) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(, OrderedContract, testing::ValuesIn(kernels()), [](const auto& kernel) {
  std::string name = kernel.param;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

}  // namespace
}  // namespace trireme
