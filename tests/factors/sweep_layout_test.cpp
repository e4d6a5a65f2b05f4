// SPDX-License-Identifier: BSD-3-Clause
// The layout of sweeps on GPUs, read as the kernels read it.
#include "factors/cuda/sweep_layout.hpp"

#include <gtest/gtest.h>

#include "factors/gpu_matrices.hpp"
#include "factors/pattern.hpp"
#include "support/with_threads.hpp"

namespace trireme::factors {
namespace {

enum class Triangle { lower, upper };

// Of the rows of one triangle: 1 - the sum of entry (row, column) * x[column] by its slices, where
// all entries are 1 / (1 + column). Each position must need positions of earlier slices only.
Array<double> solved_by_slices(const FactorPattern& pattern, const SweepLayout& layout,
                               Triangle triangle) {
  const bool is_lower = triangle == Triangle::lower;
  const std::int64_t first_position = is_lower ? 0 : layout.lower_count;
  const std::int64_t last_position = is_lower ? layout.lower_count : layout.count();
  Array<std::int32_t> positions(pattern.rows);
  for (std::int64_t p = first_position; p < last_position; ++p)
    if (layout.rows[p] != kPart) positions[layout.rows[p]] = static_cast<std::int32_t>(p);
  Array<double> x(layout.count());
  std::int64_t next = first_position;
  const std::int64_t first_slice = is_lower ? 0 : layout.lower_slices;
  const std::int64_t last_slice = is_lower ? layout.lower_slices : std::ssize(layout.slices);
  for (std::int64_t s = first_slice; s < last_slice; ++s) {
    const Slice& slice = layout.slices[s];
    EXPECT_EQ(slice.position, next);
    EXPECT_LE(slice.rows() << slice.log_lanes(), 32);
    for (std::int32_t p = slice.position; p < slice.position + slice.rows(); ++p) {
      EXPECT_LE(layout.lengths[p], slice.steps << slice.log_lanes());
      double sum = 0;
      for (std::int32_t k = 0; k < layout.lengths[p]; ++k) {
        const std::int32_t first = layout.firsts[p];
        const std::int32_t column = first < 0 ? 0 : pattern.col_idx[first + k];
        const std::int32_t needed = first < 0 ? -1 - first + k : positions[column];
        EXPECT_GE(needed, first_position);
        EXPECT_LT(needed, slice.position);
        sum += (first < 0 ? -1 : 1.0 / (1 + column)) * x[needed];
      }
      x[p] = (layout.rows[p] == kPart ? 0 : 1.0) - sum;
    }
    next += slice.rows();
  }
  EXPECT_EQ(next, last_position);
  Array<double> of_rows;
  for (std::int64_t i = 0; i < pattern.rows; ++i) {
    EXPECT_EQ(layout.rows[positions[i]], i);
    of_rows.push_back(x[positions[i]]);
  }
  return of_rows;
}

Array<double> solved_by_rows(const FactorPattern& pattern, Triangle triangle) {
  const bool is_lower = triangle == Triangle::lower;
  Array<double> x(pattern.rows);
  for (std::int64_t k = 0; k < pattern.rows; ++k) {
    const std::int64_t i = is_lower ? k : pattern.rows - 1 - k;
    const std::int32_t first = is_lower ? pattern.row_ptr[i] : pattern.diagonal[i] + 1;
    const std::int32_t last = is_lower ? pattern.diagonal[i] : pattern.row_ptr[i + 1];
    x[i] = 1;
    for (std::int32_t e = first; e < last; ++e)
      x[i] -= x[pattern.col_idx[e]] / (1 + pattern.col_idx[e]);
  }
  return x;
}

TEST(SweepLayout, SolvesWhatRowsSolve) {
  for (const test::NamedMatrix& m : test::matrices()) {
    SCOPED_TRACE(m.name);
    const FactorPattern pattern = make_pattern(m.a.view(), m.choice);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const Array<double> expected = solved_by_rows(pattern, triangle);
      for (const std::int32_t longest : {5, 70, 1024}) {
        const Array<double> x = solved_by_slices(pattern, lay_out(pattern, longest), triangle);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(x[i], expected[i], 1e-9 * (1 + std::abs(expected[i]))) << i;
      }
    }
  }
}

TEST(SweepLayout, HasItsSlicesOneAfterTheOther) {
  for (const test::NamedMatrix& m : test::matrices()) {
    const SweepLayout layout = lay_out(make_pattern(m.a.view(), m.choice));
    std::int64_t start = 0;
    for (const Slice& slice : layout.slices) {
      ASSERT_EQ(slice.start, start) << m.name;
      start += slice.steps;
    }
    EXPECT_EQ(32 * start, layout.entries);
  }
}

TEST(SweepLayout, IsTheSameForAnyNumberOfThreads) {
  const CsrMatrix<double> a = test::long_rows_matrix(9000);
  const FactorPattern pattern = make_pattern(a.view(), {});
  const SweepLayout expected = lay_out(pattern, 300);
  for (const int threads : {1, 3, 8}) {
    const trireme::test::WithThreads of_scope(threads);
    const SweepLayout layout = lay_out(pattern, 300);
    EXPECT_EQ(layout.rows, expected.rows);
    EXPECT_EQ(layout.firsts, expected.firsts);
    EXPECT_EQ(layout.lengths, expected.lengths);
    ASSERT_EQ(layout.slices.size(), expected.slices.size());
    for (std::size_t k = 0; k < layout.slices.size(); ++k) {
      EXPECT_EQ(layout.slices[k].start, expected.slices[k].start);
      EXPECT_EQ(layout.slices[k].shape, expected.slices[k].shape);
    }
  }
}

// Few entries of the arrays are padding, also where the rows of a level differ in length.
TEST(SweepLayout, HasLittlePadding) {
  const CsrMatrix<double> a = test::generated("elasticity3d", 12);
  const FactorPattern pattern = make_pattern(a.view(), {.order = RowOrder::colours});
  const SweepLayout layout = lay_out(pattern);
  const std::int64_t entries = pattern.nnz() - pattern.rows;
  EXPECT_LT(static_cast<double>(layout.entries), 1.6 * static_cast<double>(entries));
}

}  // namespace
}  // namespace trireme::factors
