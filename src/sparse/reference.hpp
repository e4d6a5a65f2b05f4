// SPDX-License-Identifier: BSD-3-Clause
// The independent reference: is this y the product A x, as well as its precision allows?
//
// The product is summed again in long double (int: in 64 bits, wrapped to 32), and each row judged
// by
//   |y_i - yhat_i| <= c n_i eps sum_j |a_ij| |x_j|,
// n_i: terms of the row, eps: machine epsilon of y. Any order of summation stays below c = 1. A row
// without terms must be exactly 0 (or, for y += A x, exactly what it was).
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

inline constexpr double kProductBoundFactor = 2;  // c

struct ComparisonResult {
  double worst_ratio = 0;       // max over rows of |y_i - yhat_i| / (n_i eps sum |a_ij||x_j|);
                                // infinite for NaN, for a wrong empty row, for an int that differs
  std::int64_t worst_row = -1;  // -1: every row is exact
  double computed = 0;          // y and
  double expected = 0;          // yhat in the worst row
  double largest_difference = 0;  // max |y_i - yhat_i|

  bool within_bound() const { return worst_ratio <= kProductBoundFactor; }
};

// Judges y = A x, or y = y_before + A x when y_before is given (y_before then counts as one more
// term). Vector may be wider than Value: FP32 values with FP64 vectors are judged by FP64's
// epsilon. Instantiated for (double, double), (float, float), (int32, int32), (Half, Half), (float,
// double). Throws Error{internal} when the sizes do not fit. OpenMP-parallel.
template <class Value, class Vector = Value>
ComparisonResult compare_product(const CsrView<Value>& a,
                                 std::span<const std::type_identity_t<Vector>> x,
                                 std::span<const std::type_identity_t<Vector>> y,
                                 std::span<const std::type_identity_t<Vector>> y_before = {});

// A x in the same higher precision, rounded once to Vector.
template <class Value, class Vector = Value>
Array<Vector> reference_product(const CsrView<Value>& a,
                                std::span<const std::type_identity_t<Vector>> x);

}  // namespace trireme
