// SPDX-License-Identifier: BSD-3-Clause
// Tests that the AMF-CSR layout is that of the drawing, entry by entry, and keeps its promises on
// every shape.
#include "kernels/peers/amf_csr/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/peers/amf_csr/build.hpp"
#include "support/paper_matrix.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

Array<std::int32_t> columns_of(const amf_csr::Layout<double>& amf) {
  Array<std::int32_t> columns;
  for (const std::uint32_t index : amf.col_index)
    columns.push_back(static_cast<std::int32_t>(amf.column_of(index)));
  return columns;
}

// The paper has sub-blocks of 6, 6 and 4 nonzeros.
TEST(AmfCsrLayout, ReproducesThePaperExample) {
  const auto amf = amf_csr::build(paper_matrix().view(), {.t_s = 4, .t_l = 7}).layout;
  EXPECT_EQ(amf.row_ptr, (Array<std::int32_t>{0, 3, 6, 9, 12, 16, 0, 2, 4, 5}));
  EXPECT_EQ(amf.first_row, (Array<std::int32_t>{0, 1, 3, 5, 7, 8}));
  EXPECT_EQ(amf.val, (Array<double>{2, 1, 8, 3, 6, 9, 6, 7, 2, 5, 6, 8, 5, 4, 2, 1}));
  EXPECT_EQ(columns_of(amf), (Array<std::int32_t>{2, 6, 7, 0, 3, 7, 0, 1, 6, 4, 4, 5, 0, 5, 6, 7}));
  Array<std::int32_t> rows;
  for (const std::uint32_t index : amf.col_index)
    rows.push_back(static_cast<std::int32_t>(amf.row_of(index)));
  EXPECT_EQ(rows, (Array<std::int32_t>{0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}));
  const auto row_blocks = amf.row_block_ptr(), sub_blocks = amf.sub_block_ptr();
  ASSERT_EQ(sub_blocks.size(), 4u);
  for (const auto& [sub_block, nonzeros] : {std::pair{0, 6}, {1, 6}, {2, 4}})
    EXPECT_EQ(row_blocks[sub_blocks[sub_block + 1]] - row_blocks[sub_blocks[sub_block]], nonzeros);
}

// The properties on which every executor relies.
void expect_sound(const amf_csr::Layout<double>& amf, const CsrMatrix<double>& a,
                  const amf_csr::Thresholds& thresholds) {
  const auto row_blocks = amf.row_block_ptr(), sub_blocks = amf.sub_block_ptr();
  ASSERT_EQ(amf.first_row.back(), a.rows);
  ASSERT_EQ(row_blocks.back(), a.nnz());
  ASSERT_EQ(sub_blocks.back(), amf.row_blocks);
  for (std::int64_t s = 0; s < amf.sub_blocks; ++s) {
    ASSERT_LT(sub_blocks[s], sub_blocks[s + 1]);
    ASSERT_LE(sub_blocks[s + 1] - sub_blocks[s], amf_csr::kMaxRowBlocksPerSubBlock);
    if (sub_blocks[s + 1] - sub_blocks[s] > 1) {
      ASSERT_LT(row_blocks[sub_blocks[s + 1]] - row_blocks[sub_blocks[s]], thresholds.t_l);
    }
  }
  for (std::int64_t block = 0; block < amf.row_blocks; ++block) {
    const std::int32_t first_row = amf.first_row[block], end_row = amf.first_row[block + 1];
    const std::int32_t begin = row_blocks[block], end = row_blocks[block + 1];
    ASSERT_EQ(begin, a.row_ptr[first_row]);
    ASSERT_LT(first_row, end_row);
    ASSERT_LE(end_row - first_row, 1 << amf.row_bits);
    if (end_row - first_row > 1) {
      ASSERT_LT(end - begin, thresholds.t_s);
    }
    std::vector<std::int32_t> next(a.row_ptr.begin() + first_row, a.row_ptr.begin() + end_row);
    for (std::int32_t place = begin; place < end; ++place) {
      const std::uint32_t row = amf.row_of(amf.col_index[place]);
      ASSERT_LT(row, next.size());
      const std::int32_t entry = next[row]++;
      ASSERT_LT(entry, a.row_ptr[first_row + row + 1]);
      ASSERT_EQ(amf.column_of(amf.col_index[place]), static_cast<std::uint32_t>(a.col_idx[entry]));
      ASSERT_EQ(amf.val[place], a.values[entry]);
    }
  }
}

TEST(AmfCsrLayout, IsSoundOnEveryShape) {
  for (const auto& [name, matrix] : contract_shapes<double>()) {
    SCOPED_TRACE(name);
    for (const amf_csr::Thresholds& thresholds :
         {amf_csr::choose_thresholds(matrix.rows, matrix.nnz()), {1, 1}, {4, 7}, {33, 1000}})
      expect_sound(amf_csr::build(matrix.view(), thresholds).layout, matrix, thresholds);
  }
}

TEST(AmfCsrLayout, OrdersTheNonzerosOfARowBlockByColumn) {
  const auto a = contract_shape<double>("OnlyMediumRows");
  const auto amf = amf_csr::build(a.view(), {.t_s = 2000, .t_l = 4000}).layout;
  const Array<std::int32_t> columns = columns_of(amf);
  const auto row_blocks = amf.row_block_ptr();
  std::int64_t folded = 0;
  for (std::int64_t block = 0; block < amf.row_blocks; ++block) {
    EXPECT_TRUE(std::is_sorted(columns.begin() + row_blocks[block],
                               columns.begin() + row_blocks[block + 1]));
    folded += amf.first_row[block + 1] - amf.first_row[block] > 1;
  }
  EXPECT_GT(folded, amf.row_blocks / 2);
}

TEST(AmfCsrLayout, FoldsFewerRowsWhereColumnsNeedTheBits) {
  for (const auto& [cols, rows] : {std::pair{std::int64_t{1} << 28, 16},
                                   {(std::int64_t{1} << 28) + 1, 8},
                                   {std::numeric_limits<std::int32_t>::max(), 2}}) {
    const auto last = static_cast<std::int32_t>(cols - 1);
    CsrMatrix<double> a;
    a.rows = 32;
    a.cols = cols;
    for (int row = 0; row < 32; ++row) {
      a.col_idx.push_back(last - row);
      a.values.push_back(row);
      a.row_ptr.push_back(row + 1);
    }
    const amf_csr::Thresholds thresholds{100, 1000};
    const auto amf = amf_csr::build(a.view(), thresholds).layout;
    EXPECT_EQ(amf.first_row[1], rows);
    expect_sound(amf, a, thresholds);
  }
}

TEST(AmfCsrThresholds, FollowTheSizeOfTheMatrix) {
  const auto expect = [](std::int64_t rows, std::int64_t nnz, std::int64_t t_s, std::int64_t t_l) {
    const amf_csr::Thresholds thresholds = amf_csr::choose_thresholds(rows, nnz);
    EXPECT_EQ(thresholds.t_s, t_s) << rows << " rows, " << nnz << " nonzeros";
    EXPECT_EQ(thresholds.t_l, t_l) << rows << " rows, " << nnz << " nonzeros";
  };
  expect(0, 0, 64, 64);
  expect(1'000'000, 2'000'000, 64, 512);
  expect(1'000'000, 10'000'000, 160, 1280);
  expect(1'000'000, 100'000'000, 512, 4096);
  expect(10'000, 100'000, 160, 195);
}

}  // namespace
}  // namespace trireme::test
