// SPDX-License-Identifier: BSD-3-Clause
// The independent reference, which tells whether y is the product A x within rounding errors.
//
// The product is summed again in long double (integers: in 64 bits, modulo 2^32). Row i must
// satisfy
//   |y_i - yhat_i| <= c n_i eps sum_j |a_ij| |x_j|,
// where n_i is the number of terms of the row and eps the machine epsilon of y. Any order of
// summation satisfies this with c = 1. A row without terms must be exactly 0 or, for y += A x,
// unchanged.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

inline constexpr double kProductBoundFactor = 2;  // c

struct ComparisonResult {
  // The maximum over the rows of |y_i - yhat_i| / (n_i eps sum |a_ij||x_j|). It is infinite for
  // NaN, for a wrong row without terms, and for a wrong integer.
  double worst_ratio = 0;
  std::int64_t worst_row = -1;    // -1 where every row is exact
  double computed = 0;            // y in the worst row
  double expected = 0;            // yhat in the worst row
  double largest_difference = 0;  // max |y_i - yhat_i|

  bool within_bound() const { return worst_ratio <= kProductBoundFactor; }
};

// Judges y = A x or, where y_before is given, y = y_before + A x; y_before counts as one more term.
// Vector may be wider than Value: FP32 values with FP64 vectors are judged by the epsilon of FP64.
// Instantiated for (Value, Vector) = (double, double), (float, float), (int32, int32), (Half, Half)
// and (float, double). Throws Error{internal} where the sizes do not agree.
template <class Value, class Vector = Value>
ComparisonResult compare_product(const CsrView<Value>& a,
                                 std::span<const std::type_identity_t<Vector>> x,
                                 std::span<const std::type_identity_t<Vector>> y,
                                 std::span<const std::type_identity_t<Vector>> y_before = {});

// Returns A x, summed in long double or 64 bits and rounded once to Vector.
template <class Value, class Vector = Value>
Array<Vector> reference_product(const CsrView<Value>& a,
                                std::span<const std::type_identity_t<Vector>> x);

}  // namespace trireme
