// SPDX-License-Identifier: BSD-3-Clause
// Tests the width of the padded part, and that both parts together hold the matrix.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/peers/hyb/build.hpp"
#include "kernels/peers/hyb/hyb.hpp"
#include "support/example_4x4.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

// `long_rows` rows of 9 nonzeros among rows of 2.
std::vector<std::int32_t> row_ptr(std::int64_t rows, std::int64_t long_rows) {
  std::vector<std::int32_t> offsets{0};
  for (std::int64_t row = 0; row < rows; ++row)
    offsets.push_back(offsets.back() + (row * long_rows % rows < long_rows ? 9 : 2));
  return offsets;
}

TEST(HybLayout, ReproducesTheExample) {
  std::vector<BuildStep> steps;
  const auto layout = hyb::build(test::example_4x4().view(), 2, steps);
  EXPECT_EQ(layout.ell.cols, (Array<std::int32_t>{0, 1, 0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(layout.ell.vals, (Array<double>{1, 2, 5, 6, 7, 8, 3, 4}));
  EXPECT_EQ(layout.coo.rows, (Array<std::int32_t>{2}));
  EXPECT_EQ(layout.coo.cols, (Array<std::int32_t>{3}));
  EXPECT_EQ(layout.coo.vals, (Array<double>{9}));
}

TEST(HybLayout, MarksThePaddingOfRowsThatAreShorterThanTheWidth) {
  auto a = test::example_4x4();
  a.row_ptr = {0, 1, 4, 7, 9};  // the first row gives an entry to the second one
  std::vector<BuildStep> steps;
  const auto layout = hyb::build(a.view(), 2, steps);
  EXPECT_EQ(layout.ell.cols, (Array<std::int32_t>{0, 1, 0, 1, kNoColumn, 1, 2, 3}));
  EXPECT_EQ(layout.coo.rows, (Array<std::int32_t>{1, 2}));
}

TEST(HybLayout, IsAsWideAsAThirdOfTheRows) {
  EXPECT_EQ(hyb::choose_width(row_ptr(30000, 10000)), 9);
  EXPECT_EQ(hyb::choose_width(row_ptr(30000, 9999)), 2);
}

TEST(HybLayout, IsAsWideAsFourThousandAndNinetySixRowsOfASmallMatrix) {
  EXPECT_EQ(hyb::choose_width(row_ptr(6000, 4096)), 9);
  EXPECT_EQ(hyb::choose_width(row_ptr(6000, 4095)), 2);
  EXPECT_EQ(hyb::choose_width(row_ptr(4096, 0)), 2);
  EXPECT_EQ(hyb::choose_width(row_ptr(4095, 4095)), 0);
  EXPECT_EQ(hyb::choose_width(row_ptr(0, 0)), 0);
}

// A third of the rows has 3 nonzeros and the others have none: the maximum padding that the rule
// allows.
TEST(HybHost, StoresAtMostThreeTimesTheNonzeros) {
  std::vector<std::int64_t> lengths(15000, 0);
  for (std::size_t row = 0; row < lengths.size(); row += 3) lengths[row] = 3;
  const auto a = test::matrix_with_row_lengths<double>(lengths, 500);
  const auto kernel = build_hyb_host<double>(a.view());
  EXPECT_DOUBLE_EQ(kernel->statistics().padding_ratio, 2);
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
}

TEST(HybHost, MatchesReferenceWithEntriesInBothParts) {
  auto lengths = test::random_lengths(9000, 0, 12);
  lengths[100] = lengths[8999] = 900;
  auto a = test::matrix_with_row_lengths<double>(lengths, 1000, 3, test::Columns::unsorted);
  const auto kernel = build_hyb_host<double>(a.view());
  EXPECT_GT(kernel->statistics().padding_ratio, 0);
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
  a.values = test::random_vector<double>(a.nnz(), 99);
  kernel->update_values(a.values);
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
}

}  // namespace
}  // namespace trireme
