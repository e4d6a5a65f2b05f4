// SPDX-License-Identifier: BSD-3-Clause
// The product of a layout of ALBUS, part after part, against the reference.
#pragma once

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "kernels/albus/multiply_part.hpp"
#include "kernels/fp64_sums.hpp"
#include "kernels/host_sum.hpp"
#include "support/host_product.hpp"

namespace trireme::test {

template <class Value, class Layout>
void expect_product_of_parts(const Layout& layout, const CsrMatrix<Value>& matrix) {
  const auto x = random_vector<Value>(matrix.cols, 5);
  const auto before = random_vector<Value>(matrix.rows, 6);
  for (const bool add : {false, true}) {
    auto y = add ? before : poisoned_vector<Value>(matrix.rows);
    std::vector<HostLaneOf<Value>> heads;
    for (const albus::Part& part : layout.parts)
      heads.push_back(albus::multiply_part(layout, part, x.data(), y.data(), add));
    for (std::size_t t = 0; t < heads.size(); ++t)
      if (layout.parts[t].has_head())
        store_or_add(y[layout.parts[t].start - 1], static_cast<HostSumOf<Value>>(heads[t]), true);
    const auto result = add ? compare_product<Value>(matrix.view(), x, y, before)
                            : compare_product<Value>(matrix.view(), x, y);
    EXPECT_TRUE(judge(result, add ? "y += A x" : "y = A x"));
    // A row is cut into as many shares as there are parts, at most.
    if constexpr (std::is_same_v<Value, float>) {
      EXPECT_TRUE(sums_in_fp64(matrix.view(), x, y, add ? before : Array<float>(),
                               static_cast<int>(layout.parts.size()) - 1));
    }
  }
}

}  // namespace trireme::test
