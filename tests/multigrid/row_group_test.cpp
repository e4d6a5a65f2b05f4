// SPDX-License-Identifier: BSD-3-Clause
// Groups of lanes make the rows that one thread makes, to the last bit.
#include "multigrid/set_up/row_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "multigrid/dense.hpp"
#include "multigrid/emulated_group.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/product_row.hpp"
#include "multigrid/set_up/prolongator_row.hpp"
#include "multigrid/set_up/sparse_product.hpp"

namespace trireme::multigrid {
namespace {

using test::EmulatedGroup;
using test::run_group;

// A matrix of the same rows whose columns are runs of kWidth.
template <int kWidth>
CsrMatrix<double> widened(const CsrMatrix<double>& a) {
  CsrMatrix<double> b{a.rows, a.cols * kWidth, {}, {}, {}};
  b.row_ptr.resize(a.rows + 1);
  for (std::int64_t i = 0; i <= a.rows; ++i) b.row_ptr[i] = a.row_ptr[i] * kWidth;
  for (std::int64_t k = 0; k < a.nnz(); ++k)
    for (int c = 0; c < kWidth; ++c) {
      b.col_idx.push_back(a.col_idx[k] * kWidth + c);
      b.values.push_back(a.values[k] * (c + 0.7));
    }
  return b;
}

// The product by groups of so many lanes, with the steps of a GPU.
template <int kWidth>
CsrMatrix<double> by_groups(const CsrMatrix<double>& a, const CsrMatrix<double>& b,
                            std::int32_t lanes, std::int32_t places) {
  const ProductRow<kWidth> row{MatrixPointers(a), MatrixPointers(b), a.rows == b.cols};
  CsrMatrix<double> c{a.rows, b.cols, {0}, {}, {}};
  Array<std::int32_t> table(places);
  run_group(lanes, [&](const EmulatedGroup& group) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      ColumnSet<kWidth, EmulatedGroup> set(group, table.data(), places);
      row(i, set);
      EXPECT_FALSE(set.full());
      const std::int32_t size = set.size(), count = set.sort();
      EXPECT_EQ(size, count);
      const std::int32_t first = c.row_ptr.back();
      group.sync();
      if (group.rank() == 0) {
        for (std::int32_t k = 0; k < count * kWidth; ++k)
          c.col_idx.push_back(table[k / kWidth] * kWidth + k % kWidth);
        c.values.resize(c.col_idx.size(), -7);
        c.row_ptr.push_back(first + count * kWidth);
      }
      group.sync();
      if (count > 0) {
        // As in global memory on even rows, as in shared memory on odd ones.
        const bool global = i % 2 == 0;
        KnownColumns<kWidth, EmulatedGroup> known(
            group, global ? c.col_idx.data() + first : table.data(), count, global ? kWidth : 1,
            c.values.data() + first);
        row(i, known);
      }
      group.sync();
    }
  });
  return c;
}

template <int kWidth>
void expect_the_hosts(std::int64_t rows, std::int64_t inner, std::int64_t cols, std::int32_t lanes,
                      std::int32_t places) {
  SCOPED_TRACE(testing::Message() << rows << " x " << inner << " x " << cols << ", width " << kWidth
                                  << ", " << lanes << " lanes");
  const auto a = test::random_matrix(rows, inner, 1);
  const auto b = widened<kWidth>(test::random_matrix(inner, cols, 2));
  const auto c = by_groups<kWidth>(a, b, lanes, places);
  const auto expected = multiply(a.view(), b.view(), {.diagonal = a.rows == b.cols, .run = kWidth});
  EXPECT_EQ(c.row_ptr, expected.row_ptr);
  EXPECT_EQ(c.col_idx, expected.col_idx);
  EXPECT_EQ(c.values, expected.values);
}

TEST(RowGroup, MakesTheRowsOfTheHost) {
  for (const std::int32_t lanes : {1, 4, 8}) {
    expect_the_hosts<1>(60, 40, 60, lanes, 128);
    expect_the_hosts<1>(40, 30, 5, lanes, 64);
    expect_the_hosts<3>(30, 40, 25, lanes, 128);
    expect_the_hosts<6>(20, 7, 20, lanes, 64);
  }
}

// Rows of P for a matrix whose node j belongs to the aggregate j % aggregates, or to none.
TEST(RowGroup, AddsUpInRegistersWhatTheHostAddsUp) {
  constexpr std::int64_t rows = 60;
  constexpr std::int32_t places = 64;
  const auto a = test::random_matrix(rows, rows, 1);
  const std::vector<double> diagonal(rows, 1.5), tentative(rows, 0.3);
  for (const std::int32_t lanes : {4, 8})
    for (const std::int32_t aggregates : {5, 16})
      for (const bool constants : {true, false}) {
        SCOPED_TRACE(testing::Message() << lanes << " lanes, " << aggregates << " aggregates");
        std::vector<std::int32_t> aggregate(rows);
        for (std::int32_t j = 0; j < rows; ++j) aggregate[j] = j % (aggregates + 1) - 1;
        const ProlongatorRow<1> row{FilteredRows(MatrixPointers(a), nullptr, 1),
                                    diagonal.data(),
                                    0.7,
                                    aggregate.data(),
                                    constants ? nullptr : tentative.data(),
                                    1};
        const auto expected = make_rows<1>(rows, aggregates, ColumnOrder::ascending, row);
        CsrMatrix<double> c{rows, aggregates, {0}, {}, {}};
        Array<std::int32_t> table(places);
        run_group(lanes, [&](const EmulatedGroup& group) {
          for (std::int64_t i = 0; i < rows; ++i) {
            ColumnSet<1, EmulatedGroup> set(group, table.data(), places);
            row(i, set);
            const std::int32_t count = set.size(), first = c.row_ptr.back();
            group.sync();
            if (group.rank() == 0) {
              c.col_idx.resize(first + count);
              c.values.resize(first + count, -7);
              c.row_ptr.push_back(first + count);
            }
            set.for_ranks(
                [&](std::int32_t column, std::int32_t rank) { c.col_idx[first + rank] = column; });
            group.sync();
            OwnedSums<4, EmulatedGroup> sums(group, c.col_idx.data() + first, count);
            if (count > 0) row(i, sums);
            sums.write(count, c.values.data() + first);
            group.sync();
          }
        });
        EXPECT_EQ(c.row_ptr, expected.row_ptr);
        EXPECT_EQ(c.col_idx, expected.col_idx);
        EXPECT_EQ(c.values, expected.values);
      }
}

TEST(RowGroup, ALaneKeepsItsColumnsSorted) {
  constexpr std::int32_t places = 7, stride = 3;
  for (const std::int32_t columns : {0, 1, 6, 7, 8, 30}) {
    Array<std::int32_t> list(places * stride, -9);
    SortedColumns<1> set(list.data() + 1, stride, places);
    for (std::int32_t c = 0; c < 2 * columns; ++c) set.insert(c % columns * 37 % 101);
    EXPECT_EQ(set.full(), columns > places) << columns;
    EXPECT_EQ(set.size(), std::min(columns, places));
    for (std::int32_t k = 1; k < set.size(); ++k) EXPECT_LT(set[k - 1], set[k]);
    for (std::size_t k = 0; k < list.size(); k += stride) EXPECT_EQ(list[k], -9);  // another lane's
  }
}

TEST(RowGroup, TellsThatATableIsTooSmall) {
  Array<std::int32_t> table(8);
  run_group(4, [&](const EmulatedGroup& group) {
    for (const std::int32_t columns : {8, 9, 100}) {
      ColumnSet<1, EmulatedGroup> set(group, table.data(), 8);
      for (std::int32_t c = group.rank(); c < columns; c += 4) {
        set.insert(c * 5);
        set.insert(c * 5);
      }
      EXPECT_EQ(set.full(), columns > 8) << columns;
      const std::int32_t size = set.size();
      EXPECT_EQ(size, 8);  // what the table holds
      group.sync();
    }
  });
}

TEST(RowGroup, SortsAnyNumberOfColumns) {
  constexpr std::int32_t places = 64;
  Array<std::int32_t> table(places);
  run_group(8, [&](const EmulatedGroup& group) {
    for (std::int32_t columns = 0; columns <= places; ++columns) {
      ColumnSet<1, EmulatedGroup> set(group, table.data(), places);
      for (std::int32_t c = group.rank(); c < columns; c += 8) set.insert((c * 37 + 11) % 101);
      const std::int32_t count = set.sort();
      EXPECT_EQ(count, columns);
      for (std::int32_t k = 1; k < count; ++k) EXPECT_LT(table[k - 1], table[k]);
      group.sync();
    }
  });
}

}  // namespace
}  // namespace trireme::multigrid
