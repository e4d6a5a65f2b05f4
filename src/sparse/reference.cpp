// SPDX-License-Identifier: BSD-3-Clause
// Sums rows in higher precision, directly by the definition of the product.
#include "sparse/reference.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/error.hpp"
#include "base/half.hpp"

namespace trireme {
namespace {

template <class Value>
struct Rounding {
  static constexpr double epsilon = std::numeric_limits<Value>::epsilon();
  static constexpr double smallest = std::numeric_limits<Value>::denorm_min();
};
template <>
struct Rounding<Half> {
  static constexpr double epsilon = 0x1p-10;
  static constexpr double smallest = 0x1p-24;
};

// The exact sum of a row, and the sum of the magnitudes of its terms.
struct RowSum {
  long double sum = 0;
  long double magnitude = 0;
  std::int64_t terms = 0;

  void add(long double term) {
    sum += term;
    magnitude += std::fabs(term);
    ++terms;
  }
};

template <class Value, class Vector>
RowSum sum_row(const CsrView<Value>& a, std::span<const Vector> x, std::int64_t row) {
  RowSum result;
  for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
    result.add(to_long_double(a.values[k]) * to_long_double(x[a.col_idx[k]]));
  return result;
}

// The sum is modulo 2^32, like the sums of the kernels.
std::int32_t sum_row_exactly(const CsrView<std::int32_t>& a, std::span<const std::int32_t> x,
                             std::int64_t row) {
  std::uint64_t sum = 0;
  for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
    sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(a.values[k]) * x[a.col_idx[k]]);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
}

struct RowVerdict {
  double expected = 0, difference = 0, ratio = 0;
};

template <class Value, class Vector>
RowVerdict judge_row(const CsrView<Value>& a, std::span<const Vector> x, std::span<const Vector> y,
                     std::span<const Vector> y_before, std::int64_t row) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  RowVerdict verdict;
  if constexpr (std::is_integral_v<Vector>) {
    const std::int32_t before = y_before.empty() ? 0 : y_before[row];
    const auto expected =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(before) +
                                  static_cast<std::uint32_t>(sum_row_exactly(a, x, row)));
    verdict.expected = expected;
    verdict.difference = std::fabs(static_cast<double>(y[row]) - expected);
    verdict.ratio = verdict.difference == 0 ? 0 : kInfinite;
  } else {
    RowSum row_sum = sum_row(a, x, row);
    if (!y_before.empty() && row_sum.terms == 0) {
      row_sum.sum = to_long_double(y_before[row]);  // Nothing is added: y must be unchanged.
    } else if (!y_before.empty()) {
      row_sum.add(to_long_double(y_before[row]));
    }
    verdict.expected = static_cast<double>(row_sum.sum);
    verdict.difference = static_cast<double>(std::fabs(to_long_double(y[row]) - row_sum.sum));
    const double allowed = static_cast<double>(row_sum.terms) *
                           (Rounding<Vector>::epsilon * static_cast<double>(row_sum.magnitude) +
                            Rounding<Vector>::smallest);
    if (std::isnan(verdict.difference))
      verdict.ratio = kInfinite;
    else if (verdict.difference > 0)
      verdict.ratio = allowed > 0 ? verdict.difference / allowed : kInfinite;
  }
  return verdict;
}

template <class Value, class Vector>
void check_sizes(const CsrView<Value>& a, std::span<const Vector> x, std::span<const Vector> y,
                 std::span<const Vector> y_before) {
  if (std::ssize(x) != a.cols || std::ssize(y) != a.rows ||
      (!y_before.empty() && std::ssize(y_before) != a.rows))
    fail(ExitCode::internal, "a {} x {} matrix was compared with x of {} and y of {} numbers",
         a.rows, a.cols, x.size(), y.size());
}

}  // namespace

template <class Value, class Vector>
ComparisonResult compare_product(const CsrView<Value>& a,
                                 std::span<const std::type_identity_t<Vector>> x,
                                 std::span<const std::type_identity_t<Vector>> y,
                                 std::span<const std::type_identity_t<Vector>> y_before) {
  check_sizes<Value, Vector>(a, x, y, y_before);
  ComparisonResult result;
#pragma omp parallel
  {
    ComparisonResult mine;
#pragma omp for schedule(dynamic, 512)
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const RowVerdict verdict = judge_row<Value, Vector>(a, x, y, y_before, row);
      if (!(verdict.difference <= mine.largest_difference))
        mine.largest_difference = verdict.difference;
      if (verdict.ratio > mine.worst_ratio) {
        mine.worst_ratio = verdict.ratio;
        mine.worst_row = row;
        mine.computed = static_cast<double>(to_long_double(y[row]));
        mine.expected = verdict.expected;
      }
    }
#pragma omp critical
    {
      const double difference = std::fmax(result.largest_difference, mine.largest_difference);
      const bool worse = mine.worst_ratio > result.worst_ratio ||
                         (mine.worst_ratio == result.worst_ratio && mine.worst_row >= 0 &&
                          mine.worst_row < result.worst_row);
      if (worse) result = mine;
      result.largest_difference = difference;
    }
  }
  return result;
}

template <class Value, class Vector>
Array<Vector> reference_product(const CsrView<Value>& a,
                                std::span<const std::type_identity_t<Vector>> x) {
  Array<Vector> y(a.rows);
#pragma omp parallel for schedule(dynamic, 512)
  for (std::int64_t row = 0; row < a.rows; ++row) {
    if constexpr (std::is_integral_v<Vector>)
      y[row] = sum_row_exactly(a, x, row);
    else if constexpr (std::is_same_v<Vector, Half>)
      y[row] = Half(static_cast<float>(sum_row<Value, Vector>(a, x, row).sum));
    else
      y[row] = static_cast<Vector>(sum_row<Value, Vector>(a, x, row).sum);
  }
  return y;
}

#define TRIREME_INSTANTIATE(Value, Vector)                                       \
  template ComparisonResult compare_product<Value, Vector>(                      \
      const CsrView<Value>&, std::span<const Vector>, std::span<const Vector>,   \
      std::span<const Vector>);                                                  \
  template Array<Vector> reference_product<Value, Vector>(const CsrView<Value>&, \
                                                          std::span<const Vector>);
TRIREME_INSTANTIATE(double, double)
TRIREME_INSTANTIATE(float, float)
TRIREME_INSTANTIATE(std::int32_t, std::int32_t)
TRIREME_INSTANTIATE(Half, Half)
TRIREME_INSTANTIATE(float, double)
#undef TRIREME_INSTANTIATE

}  // namespace trireme
