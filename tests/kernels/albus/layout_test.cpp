// SPDX-License-Identifier: BSD-3-Clause
// Tests the ALBUS layout without slices: the equal cut, the owner of each row, that the windows
// hold every nonzero once, and their products.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/albus/albus.hpp"
#include "kernels/albus/build.hpp"
#include "product_of_parts.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

template <class Value>
albus::Pattern build(const CsrMatrix<Value>& matrix, std::int64_t parts) {
  std::vector<BuildStep> steps;
  return albus::build(matrix.view(), parts, steps, albus::Slices::never);
}

std::int32_t row_of(const CsrMatrix<double>& matrix, std::int32_t nonzero) {
  return static_cast<std::int32_t>(
      std::upper_bound(matrix.row_ptr.begin(), matrix.row_ptr.end(), nonzero) -
      matrix.row_ptr.begin() - 1);
}

// True where `nonzero` is the first entry of a row that is not the first row of its group.
bool is_first_of_a_later_row(const albus::Part& part, const albus::Window& window,
                             const CsrMatrix<double>& matrix, std::int32_t nonzero) {
  const std::int32_t row = row_of(matrix, nonzero);
  if (matrix.row_ptr[row] != nonzero) return false;
  std::int32_t first = window.first_row;
  for (std::int32_t r = window.first_run; first < row; ++r) first += part.runs[r].count;
  return first != row;
}

// A matrix whose rows form groups of 1 to 9 with the same columns, like the unknowns of a node.
template <class Value>
CsrMatrix<Value> grouped_matrix(std::int64_t cols) {
  std::vector<std::int64_t> lengths;
  test::Random random(11);
  for (int node = 0; node < 300; ++node)
    lengths.insert(lengths.end(), 1 + node % 9, 8 + random.below(60));
  auto matrix = test::matrix_with_row_lengths<Value>(lengths, cols, 3, test::Columns::unsorted);
  std::int64_t row = 0;
  for (int node = 0; node < 300; ++node, ++row)
    for (int copy = node % 9; copy > 0; --copy, ++row)
      std::copy(matrix.col_idx.begin() + matrix.row_ptr[row],
                matrix.col_idx.begin() + matrix.row_ptr[row + 1],
                matrix.col_idx.begin() + matrix.row_ptr[row + 1]);
  return matrix;
}

// The drawing in layout.hpp: rows of 3, 2, 6, 1, 4 nonzeros, two parts of 8.
TEST(AlbusPartition, CutsTheRowOfTheDrawing) {
  const std::vector<std::int32_t> row_ptr = {0, 3, 5, 11, 12, 16};
  const auto parts = albus::partition(row_ptr, 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].start1, 0);
  EXPECT_EQ(parts[0].end1, 8);
  EXPECT_EQ(parts[0].start, 0);
  EXPECT_EQ(parts[0].end, 3);
  EXPECT_FALSE(parts[0].has_head());
  EXPECT_TRUE(parts[0].has_tail());
  EXPECT_EQ(parts[0].tail_begin, 5);
  EXPECT_EQ(parts[1].start, 3);
  EXPECT_EQ(parts[1].end, 5);
  EXPECT_TRUE(parts[1].has_head());
  EXPECT_EQ(parts[1].head_end, 11);
  EXPECT_FALSE(parts[1].has_tail());
}

TEST(AlbusPartition, GivesEveryPartTheSameNonzerosAndEveryRowOneOwner) {
  for (const auto& [name, matrix] : test::contract_shapes<double>()) {
    if (matrix.rows == 0) continue;
    for (const std::int64_t count : {1, 2, 3, 16, 61}) {
      SCOPED_TRACE(name + " in " + std::to_string(count) + " parts");
      const auto parts = albus::partition(matrix.row_ptr, count);
      std::int32_t nonzero = 0, row = 0;
      for (const albus::Part& part : parts) {
        EXPECT_EQ(part.start1, nonzero);
        EXPECT_EQ(part.start, row);
        EXPECT_LE(part.start, part.end);
        const std::int64_t size = part.end1 - part.start1;
        EXPECT_GE(size, matrix.nnz() / count);
        EXPECT_LE(size, matrix.nnz() / count + 1);
        nonzero = part.end1;
        row = part.end;
      }
      EXPECT_EQ(nonzero, matrix.nnz());
      EXPECT_EQ(row, matrix.rows);
    }
  }
}

// The heads, windows and tails of the parts, in their order, cover the nonzeros of the CSR without
// a gap.
TEST(AlbusLayout, HoldsEveryNonzeroOnceWithItsColumn) {
  auto shapes = test::contract_shapes<double>();
  shapes.push_back({"Grouped", grouped_matrix<double>(2000)});
  for (const auto& [name, matrix] : shapes) {
    SCOPED_TRACE(name);
    const auto layout = build(matrix, 3);
    std::int32_t next = 0;
    for (const albus::Part& part : layout.parts) {
      EXPECT_EQ(part.start1, next);
      next = std::max(part.start1, part.head_end);
      std::int32_t row = part.start;
      for (const albus::Window& window : part.windows) {
        EXPECT_EQ(window.first_row, row);
        EXPECT_EQ(window.first_nonzero, next);
        row += window.rows;
        next = matrix.row_ptr[row];
        if (!window.narrow) continue;
        std::int32_t column = window.first_column;
        for (std::int32_t k = window.first_nonzero; k < next; ++k) {
          if (window.order == albus::RowOrder::groups &&
              is_first_of_a_later_row(part, window, matrix, k))
            column -= matrix.row_ptr[row_of(matrix, k) + 1] - k;
          ASSERT_EQ(window.base + part.narrow_col_idx[column++], matrix.col_idx[k]);
        }
      }
      EXPECT_EQ(next, part.tail_begin);
      EXPECT_EQ(row + (part.has_tail() ? 1 : 0), part.end);
      next = part.end1;
    }
    EXPECT_EQ(next, matrix.nnz());
  }
}

TEST(AlbusLayout, RunsCoverTheRowsOfTheirWindowInItsOrder) {
  for (const auto& [name, matrix] : test::contract_shapes<double>()) {
    SCOPED_TRACE(name);
    const auto layout = build(matrix, 2);
    for (const albus::Part& part : layout.parts)
      for (const albus::Window& window : part.windows) {
        if (window.order == albus::RowOrder::rows) continue;
        std::vector<bool> seen(window.rows, false);
        std::int32_t position = 0;
        for (std::int32_t r = window.first_run; r < window.first_run + window.runs; ++r)
          for (std::int32_t i = 0; i < part.runs[r].count; ++i, ++position) {
            std::int32_t row = position;
            if (window.order == albus::RowOrder::sorted) {
              const albus::Slot slot = part.slots[window.first_slot + position];
              row = slot.row;
              EXPECT_EQ(window.first_nonzero + slot.offset, matrix.row_ptr[window.first_row + row]);
            }
            ASSERT_LT(row, window.rows);
            EXPECT_FALSE(seen[row]);
            seen[row] = true;
            const std::int32_t* ends = matrix.row_ptr.data() + window.first_row + row;
            EXPECT_EQ(part.runs[r].length, ends[1] - ends[0]);
          }
        EXPECT_EQ(position, window.rows);
      }
  }
}

// The tests above prove something only if their shapes reach every row order and both column
// widths.
TEST(AlbusLayout, EveryRowOrderAndColumnWidthOccursInTheShapes) {
  bool runs = false, sorted = false, rows = false;
  for (const auto& [name, matrix] : test::contract_shapes<double>())
    for (const albus::Part& part : build(matrix, 2).parts)
      for (const albus::Window& window : part.windows) {
        runs |= window.order == albus::RowOrder::runs;
        sorted |= window.order == albus::RowOrder::sorted;
        rows |= window.order == albus::RowOrder::rows;
      }
  EXPECT_TRUE(runs && sorted && rows);

  const auto wide = test::matrix_with_row_lengths<double>(test::random_lengths(900, 0, 20), 300000);
  for (const albus::Part& part : build(wide, 2).parts)
    for (const albus::Window& window : part.windows) EXPECT_FALSE(window.narrow);
}

// Returns the order of the first window for runs of `run` rows each, whose lengths cycle through
// `lengths`.
albus::RowOrder order_of(std::int64_t rows, const std::vector<std::int64_t>& lengths,
                         std::int64_t run) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < rows; ++i) all.push_back(lengths[i / run % lengths.size()]);
  return build(test::matrix_with_row_lengths<double>(all, 5000), 1).parts[0].windows[0].order;
}

TEST(AlbusLayout, ChoosesTheOrderByTheLengthsOfAWindow) {
  EXPECT_EQ(order_of(60, {48, 50}, 1), albus::RowOrder::runs)
      << "so long that their ends hardly count";
  EXPECT_EQ(order_of(60, {20, 22}, 1), albus::RowOrder::rows) << "the length changes at each row";
  EXPECT_EQ(order_of(60, {20, 22}, 6), albus::RowOrder::runs) << "runs of six";
  EXPECT_EQ(order_of(200, {2, 3, 4}, 1), albus::RowOrder::sorted) << "few lengths, often changed";
  EXPECT_EQ(order_of(200, {2, 3, 4}, 60), albus::RowOrder::runs) << "few lengths, seldom changed";
}

// Each matrix has two rows, in one window. The distance of their columns decides the width of a
// column.
TEST(AlbusLayout, KeepsColumnsNarrowUpToADistanceOf65535) {
  for (const std::int32_t distance : {65535, 65536}) {
    SCOPED_TRACE(distance);
    CsrMatrix<double> matrix;
    matrix.rows = 2;
    matrix.cols = 70000;
    matrix.row_ptr = {0, 2, 4};
    matrix.col_idx = {7 + distance, 8, 7, 9};
    matrix.values = {2, 3, 5, 7};
    const auto layout = build(matrix, 1);
    ASSERT_EQ(layout.parts[0].windows.size(), 1u);
    EXPECT_EQ(layout.parts[0].windows[0].narrow, distance == 65535);
    const auto kernel = build_albus_host<double>(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  }
}

template <class Value>
class AlbusHostValues : public testing::Test {};
using ValueTypes = testing::Types<double, float, std::int32_t>;
TYPED_TEST_SUITE(AlbusHostValues, ValueTypes);

TYPED_TEST(AlbusHostValues, MatchesReferenceWithoutSlicesInAnyNumberOfParts) {
  auto shapes = test::contract_shapes<TypeParam>();
  shapes.push_back({"Grouped", grouped_matrix<TypeParam>(2000)});
  for (const auto& [name, matrix] : shapes)
    for (const std::int64_t count : {1, 3}) {
      SCOPED_TRACE(name + " in " + std::to_string(count) + " parts");
      albus::Layout<TypeParam> layout;
      static_cast<albus::Pattern&>(layout) = build(matrix, count);
      layout.values = matrix.values;
      test::expect_product_of_parts<TypeParam>(layout, matrix);
    }
}

TYPED_TEST(AlbusHostValues, MatchesReferenceWithColumnsTooFarApartForSixteenBits) {
  for (const std::int64_t longest : {6, 20, 200}) {
    const auto matrix = test::matrix_with_row_lengths<TypeParam>(
        test::random_lengths(900, 0, longest), 300000, 5, test::Columns::unsorted);
    const auto kernel = build_albus_host<TypeParam>(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  }
}

TYPED_TEST(AlbusHostValues, MatchesReferenceOnRowsInGroupsOfTheSameColumns) {
  for (const std::int64_t cols : {2000, 300000}) {
    const auto matrix = grouped_matrix<TypeParam>(cols);
    const auto kernel = build_albus_host<TypeParam>(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  }
}

TYPED_TEST(AlbusHostValues, MatchesReferenceOnRowsThatDifferInTheirLastColumnAlone) {
  for (const std::int32_t cols : {2000, 300000}) {
    auto matrix = grouped_matrix<TypeParam>(cols);
    for (std::int64_t row = 0; row < matrix.rows; row += 2) {
      std::int32_t& last = matrix.col_idx[matrix.row_ptr[row + 1] - 1];
      last = (last + 1) % cols;
    }
    const auto kernel = build_albus_host<TypeParam>(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  }
}

TEST(AlbusLayout, StoresTheColumnsOfAGroupOnce) {
  const auto matrix = grouped_matrix<double>(2000);
  std::int64_t grouped_rows = 0, stored = 0;
  for (const albus::Part& part : build(matrix, 2).parts) {
    stored += static_cast<std::int64_t>(part.narrow_col_idx.size());
    for (const albus::Window& window : part.windows)
      if (window.order == albus::RowOrder::groups) grouped_rows += window.rows;
  }
  EXPECT_GT(grouped_rows, matrix.rows / 2);
  EXPECT_LT(stored, matrix.nnz() / 3);
}

// The matrix exceeds every cache that the layout considers, so that its rows are prefetched.
TYPED_TEST(AlbusHostValues, MatchesReferenceBeyondTheLastCache) {
  auto lengths = test::random_lengths(250000, 0, 9);
  const auto regular = std::vector<std::int64_t>(100000, 7);
  const auto medium = test::random_lengths(60000, 10, 60);
  lengths.insert(lengths.end(), regular.begin(), regular.end());
  lengths.insert(lengths.end(), medium.begin(), medium.end());
  test::Random random(3);
  CsrMatrix<TypeParam> matrix;
  matrix.rows = static_cast<std::int64_t>(lengths.size());
  matrix.cols = 70001;
  for (const std::int64_t length : lengths)
    matrix.row_ptr.push_back(matrix.row_ptr.back() + static_cast<std::int32_t>(length));
  matrix.col_idx.resize(matrix.row_ptr.back());
  for (auto& column : matrix.col_idx) column = static_cast<std::int32_t>(random.below(70001));
  matrix.values = test::random_vector<TypeParam>(matrix.row_ptr.back());
  std::vector<BuildStep> steps;
  EXPECT_TRUE(albus::build(matrix.view(), 2, steps).beyond_last_cache || sizeof(TypeParam) < 8);
  const auto kernel = build_albus_host<TypeParam>(matrix.view());
  EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
}

TEST(AlbusHost, NamesItsSimdTarget) { EXPECT_FALSE(albus_simd_target().empty()); }

}  // namespace
}  // namespace trireme
