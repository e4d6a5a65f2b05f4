// SPDX-License-Identifier: BSD-3-Clause
// Norms and the two measures of a residual against sums in long double, on any number of ranks.
#include "distributed/plain_residual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kRows = 40;

// The part of this rank; the last one of several has none.
template <class Numbers>
Numbers mine(const Numbers& whole) {
  const int ranks = size_of(MPI_COMM_WORLD), with_rows = ranks > 1 ? ranks - 1 : 1;
  const int rank = rank_of(MPI_COMM_WORLD);
  const auto end_of = [&](int r) { return r >= with_rows ? kRows : kRows * r / with_rows; };
  return {whole.begin() + end_of(rank), whole.begin() + end_of(rank + 1)};
}

double norm_in_long_double(const Array<double>& v) {
  long double sum = 0;
  for (const double value : v) sum += static_cast<long double>(value) * value;
  return static_cast<double>(std::sqrt(sum));
}

TEST(PlainResidual, NormsAreThoseOfAllRanksAtAnyScale) {
  for (const double scale : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    Array<double> whole(kRows);
    for (std::int64_t i = 0; i < kRows; ++i) whole[i] = scale * std::sin(1.0 + i);
    EXPECT_NEAR(norm_over_ranks(MPI_COMM_WORLD, mine(whole)) / norm_in_long_double(whole), 1, 1e-14)
        << scale;
    EXPECT_NEAR(plain_norm(whole) / norm_in_long_double(whole), 1, 1e-14) << scale;
    whole[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(norm_over_ranks(MPI_COMM_WORLD, mine(whole))));
  }
  EXPECT_EQ(norm_over_ranks(MPI_COMM_WORLD, mine(Array<double>(kRows, 0.0))), 0);
}

TEST(PlainResidual, IsMeasuredInTheScaleOfTheRowsWhereTheyDiffer) {
  Array<double> inverse(kRows), b(kRows), r(kRows), of_b(kRows), of_r(kRows);
  for (std::int64_t i = 0; i < kRows; ++i) {
    inverse[i] = i % 2 ? 1e-6 : 1;
    b[i] = std::cos(i) / inverse[i];
    r[i] = 1e-5 * std::sin(2.0 + i);
    of_b[i] = inverse[i] * b[i];
    of_r[i] = inverse[i] * r[i];
  }
  const auto norm = [](std::span<const double> v) { return norm_over_ranks(MPI_COMM_WORLD, v); };
  RowSizes sizes{.differ = true, .inverse = mine(inverse)};
  Residual of = measured(sizes, mine(b), mine(r), norm);
  EXPECT_NEAR(of.norm / norm_in_long_double(r), 1, 1e-14);
  ASSERT_TRUE(of.of_rows);
  EXPECT_NEAR(*of.of_rows / (norm_in_long_double(of_r) / norm_in_long_double(of_b)), 1, 1e-14);
  EXPECT_FALSE(measured(sizes, mine(Array<double>(kRows, 0.0)), mine(r), norm).of_rows);
  sizes.differ = false;
  EXPECT_FALSE(measured(sizes, mine(b), mine(r), norm).of_rows);
}

}  // namespace
}  // namespace trireme
