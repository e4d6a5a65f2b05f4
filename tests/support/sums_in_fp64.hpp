// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <span>

#include "sparse/csr.hpp"

namespace trireme::test {

// Judges y = A x, or y = y_before + A x where y_before is given. `shares` is how often a share of a
// row's sum is rounded to FP32 before it becomes a part of the result.
testing::AssertionResult sums_in_fp64(const CsrView<float>& a, std::span<const float> x,
                                      std::span<const float> y, std::span<const float> y_before,
                                      int shares);

}  // namespace trireme::test
