// SPDX-License-Identifier: BSD-3-Clause
// The product of a layout of ALBUS, part after part, against the reference.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "kernels/albus/multiply_part.hpp"
#include "support/host_product.hpp"

namespace trireme::test {

template <class Value, class Layout>
void expect_product_of_parts(const Layout& layout, const CsrMatrix<Value>& matrix) {
  const auto x = random_vector<Value>(matrix.cols, 5);
  const auto before = random_vector<Value>(matrix.rows, 6);
  for (const bool add : {false, true}) {
    auto y = add ? before : poisoned_vector<Value>(matrix.rows);
    std::vector<Value> heads;
    for (const albus::Part& part : layout.parts)
      heads.push_back(albus::multiply_part(layout, part, x.data(), y.data(), add));
    for (std::size_t t = 0; t < heads.size(); ++t)
      if (layout.parts[t].has_head()) y[layout.parts[t].start - 1] += heads[t];
    const auto result = add ? compare_product<Value>(matrix.view(), x, y, before)
                            : compare_product<Value>(matrix.view(), x, y);
    EXPECT_TRUE(judge(result, add ? "y += A x" : "y = A x"));
  }
}

}  // namespace trireme::test
