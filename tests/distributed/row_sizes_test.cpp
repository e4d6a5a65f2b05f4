// SPDX-License-Identifier: BSD-3-Clause
// The sizes of rows do not depend on how the rows are distributed.
#include "distributed/row_sizes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "distributed/matrix_on_ranks.hpp"
#include "sparse/generators.hpp"

namespace trireme {
namespace {

using test::Cut;

CsrMatrix<double> stencil() {
  GenerateSpec spec;
  spec.kind = "poisson2d";
  spec.n = 12;
  return generate(spec, 0, generator_shape(spec).rows).local;
}

// Every rank has the sizes of its rows of `a`, found by a plain loop.
void expect_sizes(const CsrMatrix<double>& a, bool diagonal_is_size) {
  for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty}) {
    const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, cut);
    const RowSizes& found = row_sizes(*matrix);
    EXPECT_TRUE(found.differ);
    EXPECT_EQ(found.diagonal_is_size, diagonal_is_size);
    ASSERT_EQ(std::ssize(found.inverse), matrix->local_rows());
    double greatest = 0;
    for (const double value : a.values) greatest = std::max(greatest, std::abs(value));
    for (std::int64_t i = 0; i < matrix->local_rows(); ++i) {
      const std::int64_t row = matrix->first_row() + i;
      double size = 0;
      for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k)
        size = std::max(size, std::abs(a.values[k]));
      EXPECT_EQ(found.inverse[i], 1 / (size == 0 ? greatest : size)) << "row " << row;
    }
    EXPECT_EQ(&row_sizes(*matrix), &found) << "they are remembered";
  }
}

TEST(RowSizes, OfLikeRowsAreNotKept) {
  CsrMatrix<double> a = stencil();
  a.values[a.row_begin(50)] *= 900;
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  EXPECT_FALSE(row_sizes(*matrix).differ);
  EXPECT_TRUE(row_sizes(*matrix).inverse.empty());
}

TEST(RowSizes, AreTheLargestMagnitudes) {
  CsrMatrix<double> a = stencil();
  for (std::int64_t k = a.row_begin(40); k < a.row_begin(70); ++k) a.values[k] *= -1e6;
  expect_sizes(a, true);
  a.values[a.row_begin(40)] = 3e8;  // off the diagonal, on several ranks a ghost
  expect_sizes(a, false);
  a.values[a.row_begin(41)] = std::numeric_limits<double>::quiet_NaN();
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  EXPECT_TRUE(row_sizes(*matrix).differ) << "a NaN changes nothing";
}

TEST(RowSizes, OfARowOfZerosAreThoseOfTheLargestRow) {
  CsrMatrix<double> a = stencil();
  for (std::int64_t k = a.row_begin(3); k < a.row_begin(4); ++k) a.values[k] = 0;
  for (std::int64_t k = a.row_begin(90); k < a.row_begin(91); ++k) a.values[k] *= 1e4;
  expect_sizes(a, false);
}

TEST(RowSizes, FollowTheValues) {
  CsrMatrix<double> a = stencil();
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  EXPECT_FALSE(row_sizes(*matrix).differ);
  const std::int64_t first = matrix->first_row(), end = first + matrix->local_rows();
  Array<double> values(a.values.begin() + a.row_begin(first), a.values.begin() + a.row_begin(end));
  if (first == 0 && !values.empty()) values[0] = 1e5;
  matrix->replace_values(values);
  EXPECT_TRUE(row_sizes(*matrix).differ);
}

TEST(RowSizes, OfValuesAreThoseOfOneRank) {
  const CsrMatrix<double> a = stencil();
  Array<double> values = a.values;
  for (std::int64_t k = a.row_begin(7); k < a.row_begin(8); ++k) values[k] *= 1e9;
  const RowSizes found = row_sizes_alone(a, values);
  EXPECT_TRUE(found.differ);
  EXPECT_EQ(found.inverse[7], 1 / 4e9);
  EXPECT_EQ(found.inverse[8], 1 / 4.0);
  EXPECT_FALSE(row_sizes_alone(a, a.values).differ);
}

}  // namespace
}  // namespace trireme
