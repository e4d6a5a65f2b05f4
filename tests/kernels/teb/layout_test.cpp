// SPDX-License-Identifier: BSD-3-Clause
// Tests that the TEB layout is that of the paper, entry by entry, and keeps its promises on every
// shape.
#include "kernels/teb/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/teb/build.hpp"
#include "sparse/generators.hpp"
#include "support/paper_matrix.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

TEST(TebLayout, ReproducesThePaperExample) {
  const CsrMatrix<double> a = paper_matrix();
  const teb::RowRuns runs = teb::count_rows(a.row_ptr);
  const auto plan = teb::make_plan(8, runs, {.blocks = 4, .k = 1, .nonzeros = 4});
  const teb::Layout<double> teb = teb::build(a.view(), plan).layout;
  // Figures 13 to 15.
  EXPECT_EQ(teb.row_order, (Array<std::int32_t>{7, 0, 6, 2, 4, 1, 3, 5}));
  EXPECT_EQ(teb.values, (Array<double>{5, 4, 2, 1, 2, 1, 8, 6, 6, 9, 2, 3, 6, 7, 5, 8}));
  EXPECT_EQ(teb.col_idx, (Array<std::int32_t>{0, 5, 6, 7, 2, 6, 7, 4, 3, 7, 6, 0, 0, 1, 4, 5}));
  EXPECT_EQ(teb.blo_idx, (Array<std::int32_t>{0, 1, 3, 6, 8}));
  EXPECT_EQ(teb.rownnz_sum, (Array<std::int32_t>{0, 4, 7, 8, 10, 11, 12, 14, 16}));
}

TEST(TebLayout, PutsTheRunsOfThePaperExampleInOrder) {
  const teb::RowRuns runs = teb::count_rows(paper_matrix().row_ptr);
  ASSERT_EQ(runs.size(), 4u);
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(runs[k].length, 4 - k);
    EXPECT_EQ(runs[k].rows, k < 2 ? 1 : 3);
  }
}

// The properties on which every executor relies.
void expect_sound(const teb::Layout<double>& teb, const CsrMatrix<double>& a) {
  ASSERT_EQ(std::ssize(teb.row_order), a.rows);
  ASSERT_EQ(std::ssize(teb.rownnz_sum), a.rows + 1);
  ASSERT_EQ(teb.rownnz_sum.back(), a.nnz());
  ASSERT_EQ(teb.blo_idx.front(), 0);
  ASSERT_EQ(teb.blo_idx.back(), a.rows);

  Array<std::int32_t> order = teb.row_order;
  std::sort(order.begin(), order.end());
  for (std::int64_t row = 0; row < a.rows; ++row) ASSERT_EQ(order[row], row);

  for (std::int64_t position = 0; position < a.rows; ++position) {
    const std::int32_t row = teb.row_order[position], begin = teb.rownnz_sum[position];
    const std::int32_t length = a.row_ptr[row + 1] - a.row_ptr[row];
    ASSERT_EQ(teb.rownnz_sum[position + 1] - begin, length);
    ASSERT_TRUE(std::equal(teb.values.begin() + begin, teb.values.begin() + begin + length,
                           a.values.begin() + a.row_ptr[row]));
    ASSERT_TRUE(std::equal(teb.col_idx.begin() + begin, teb.col_idx.begin() + begin + length,
                           a.col_idx.begin() + a.row_ptr[row]));
  }
  for (std::int64_t block = 0; block < teb.blocks(); ++block) {
    const std::int32_t first = teb.blo_idx[block], last = teb.blo_idx[block + 1];
    const std::int32_t held = teb.rownnz_sum[last] - teb.rownnz_sum[first];
    ASSERT_LT(first, last);
    ASSERT_LE(last - first, teb::kEmptyRowsPerBlock);
    if (block < teb.long_rows) {
      ASSERT_EQ(last - first, 1);
      ASSERT_GT(held, teb.threshold);
    } else {
      ASSERT_LE(held, teb.threshold);
    }
  }
  ASSERT_LE(teb.threshold, teb::kMaxNonzeros);
}

TEST(TebLayout, IsSoundOnEveryShape) {
  for (const auto& shape : contract_shapes<double>()) {
    SCOPED_TRACE(shape.name);
    expect_sound(teb::build(shape.matrix.view()).layout, shape.matrix);
    const auto runs = teb::count_rows(shape.matrix.row_ptr);
    for (const std::int32_t threshold : {1, 4, 33}) {
      const auto plan = teb::make_plan(shape.matrix.rows, runs, {1, 1, threshold});
      expect_sound(teb::build(shape.matrix.view(), plan).layout, shape.matrix);
    }
  }
}

TEST(TebLayout, IsSoundOnManyPanels) {
  for (const GenerateSpec& spec :
       {GenerateSpec{"rmat", 17, 8}, GenerateSpec{"circuit", 60000}, GenerateSpec{"web", 70000}}) {
    SCOPED_TRACE(spec.kind);
    const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
    const auto layout = teb::build(a.view()).layout;
    expect_sound(layout, a);
    EXPECT_GT(a.rows, 2 * teb::choose_panel_rows(a.rows, a.nnz()));
  }
}

TEST(TebLayout, FillsItsBlocksEvenly) {
  const GenerateSpec spec{"poisson3d", 60};
  const CsrMatrix<double> a = generate(spec, 0, 216000).local;
  const auto layout = teb::build(a.view()).layout;
  EXPECT_LT(layout.blocks(), 1.03 * static_cast<double>(a.nnz()) / layout.threshold + 20);
}

}  // namespace
}  // namespace trireme::test
