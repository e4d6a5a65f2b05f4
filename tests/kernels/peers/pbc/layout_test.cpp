// SPDX-License-Identifier: BSD-3-Clause
// Tests that the PBC layout is that of the drawing, entry by entry, and keeps its promises on every
// shape.
#include "kernels/peers/pbc/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "kernels/peers/pbc/build.hpp"
#include "sparse/generators.hpp"
#include "support/paper_matrix.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

// The paper has three blocks of 5, 6 and 5 nonzeros.
TEST(PbcLayout, ReproducesThePaperExample) {
  const pbc::Plan plan{.mean_nonzeros = 6, .max_row = 8, .panel_rows = 8, .candidates = 1};
  const pbc::Layout<double> pbc = pbc::build(paper_matrix().view(), plan).layout;
  EXPECT_EQ(pbc.dev_p, (Array<std::int32_t>{0, 5, 11, 16}));
  EXPECT_EQ(pbc.dev_w, (Array<std::int32_t>{3, 4, 2}));
  EXPECT_EQ(pbc.dev_blockpos,
            (Array<std::int32_t>{0, 0, 0, 2, 2, 1, 4, 7, 7, 7, 7, 3, 3, 5, 5, 6}));
  EXPECT_EQ(pbc.dev_offset, (Array<std::int32_t>{2, 6, 7, 3, 7, 0, 6, 0, 5, 6, 7, 0, 1, 4, 5, 4}));
  EXPECT_EQ(pbc.val_data, (Array<double>{2, 1, 8, 6, 9, 3, 2, 5, 4, 2, 1, 6, 7, 5, 8, 6}));
  EXPECT_TRUE(pbc.empty_rows.empty());
}

// The properties on which every executor relies.
void expect_sound(const pbc::Layout<double>& pbc, const CsrMatrix<double>& a,
                  const pbc::Plan& plan) {
  ASSERT_EQ(std::ssize(pbc.dev_p), pbc.blocks() + 1);
  ASSERT_EQ(pbc.dev_p.front(), 0);
  ASSERT_EQ(pbc.dev_p.back(), a.nnz());
  std::vector<int> seen(a.rows);
  for (const std::int32_t row : pbc.empty_rows) {
    ASSERT_EQ(a.row_ptr[row], a.row_ptr[row + 1]);
    ++seen[row];
  }
  for (std::int64_t block = 0; block < pbc.blocks(); ++block) {
    const std::int32_t begin = pbc.dev_p[block], end = pbc.dev_p[block + 1];
    ASSERT_LT(begin, end);
    std::int32_t width = 0, before = -1;
    for (std::int32_t place = begin; place < end;) {
      const std::int32_t row = pbc.dev_blockpos[place], first = a.row_ptr[row];
      const std::int32_t length = a.row_ptr[row + 1] - first;
      ASSERT_GT(row, before);
      ASSERT_LE(place + length, end);
      ++seen[row];
      for (std::int32_t k = 0; k < length; ++k) {
        ASSERT_EQ(pbc.dev_blockpos[place + k], row);
        ASSERT_EQ(pbc.dev_offset[place + k], a.col_idx[first + k]);
        ASSERT_EQ(pbc.val_data[place + k], a.values[first + k]);
      }
      width = std::max(width, length);
      before = row;
      place += length;
    }
    ASSERT_EQ(pbc.dev_w[block], width);
    if (block < pbc.long_rows) {
      ASSERT_EQ(width, end - begin);
      ASSERT_GT(width, plan.max_row);
    } else {
      ASSERT_LE(width, plan.max_row);
      ASSERT_LE(end - begin, plan.mean_nonzeros + plan.max_row);
    }
  }
  ASSERT_EQ(std::count(seen.begin(), seen.end(), 1), a.rows);
}

TEST(PbcLayout, IsSoundOnEveryShape) {
  for (const auto& [name, matrix] : contract_shapes<double>()) {
    SCOPED_TRACE(name);
    const pbc::Plan usual = pbc::make_plan(matrix.rows, matrix.nnz());
    expect_sound(pbc::build(matrix.view(), usual).layout, matrix, usual);
    const pbc::Plan small{.mean_nonzeros = 20, .max_row = 10, .panel_rows = 64, .candidates = 3};
    expect_sound(pbc::build(matrix.view(), small).layout, matrix, small);
  }
}

// The difference between the largest and the smallest block of each panel is at most its longest
// row.
void expect_even(const pbc::Layout<double>& pbc, const pbc::Plan& plan) {
  struct Spread {
    std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = 0, longest = 0;
  };
  std::map<std::int64_t, Spread> panels;
  for (std::int64_t block = pbc.long_rows; block < pbc.blocks(); ++block) {
    const std::int32_t nonzeros = pbc.dev_p[block + 1] - pbc.dev_p[block];
    Spread& spread = panels[pbc.dev_blockpos[pbc.dev_p[block]] / plan.panel_rows];
    spread.least = std::min(spread.least, nonzeros);
    spread.most = std::max(spread.most, nonzeros);
    spread.longest = std::max(spread.longest, pbc.dev_w[block]);
  }
  for (const auto& [panel, spread] : panels) EXPECT_LE(spread.most - spread.least, spread.longest);
}

TEST(PbcLayout, IsSoundAndEvenOnManyPanels) {
  for (const GenerateSpec& spec : {GenerateSpec{"rmat", 15, 8}, GenerateSpec{"circuit", 60000},
                                   GenerateSpec{"poisson3d", 40}}) {
    SCOPED_TRACE(spec.kind);
    const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
    const pbc::Plan plan = pbc::make_plan(a.rows, a.nnz());
    ASSERT_GT(plan.panels(a.rows), 2);
    const pbc::Layout<double> pbc = pbc::build(a.view(), plan).layout;
    expect_sound(pbc, a, plan);
    expect_even(pbc, plan);
    EXPECT_GT(pbc.blocks(), 2 * plan.panels(a.rows));
  }
}

}  // namespace
}  // namespace trireme::test
