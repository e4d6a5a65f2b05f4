// SPDX-License-Identifier: BSD-3-Clause
// Tests that the DASP layout is that of section 3.2 of the paper, on a worked example and on every
// shape.
#include <gtest/gtest.h>
#include <omp.h>

#include <numeric>

#include "base/half.hpp"
#include "kernels/dasp/build.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using Indices = Array<std::int32_t>;
using Values = Array<double>;

// Entry k of row r is 100 r + k + 1 in column (r + k) mod cols.
CsrMatrix<double> countable(const std::vector<std::int64_t>& lengths, std::int64_t cols) {
  CsrMatrix<double> a;
  a.rows = static_cast<std::int64_t>(lengths.size());
  a.cols = cols;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t k = 0; k < lengths[row]; ++k) {
      a.col_idx.push_back(static_cast<std::int32_t>((row + k) % cols));
      a.values.push_back(static_cast<double>(100 * row + k + 1));
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

dasp::Layout<double, 2, 4> small_layout(const std::vector<std::int64_t>& lengths) {
  std::vector<BuildStep> steps;
  return dasp::build<double, 2, 4>(countable(lengths, 20).view(), steps, 16);
}

// The setting of figures 5 to 8 of the paper: a 20 x 20 matrix, blocks of 2 x 4, groups of 16.
TEST(DaspLayout, TwentyByTwentyWithBlocksOfTwoByFour) {
  const auto a = small_layout({18, 3, 7, 9, 1, 20, 5, 2, 8, 4, 0, 1, 2, 3, 2, 5, 1, 3, 1, 0});
  EXPECT_EQ(a.row_order, (Indices{0,  5,                   // long
                                  3,  8,  2,  6,  15,      // medium, longest first
                                  4,  1,  11, 13, 16, 17,  // 1&3
                                  9,                       // 4
                                  7,  12, 14,              // 2&2, the last row alone
                                  18,                      // remaining row of 1
                                  10, 19}));               // empty

  EXPECT_EQ(a.group_ptr, (Indices{0, 2, 4}));
  ASSERT_EQ(a.long_val.size(), 64u);
  for (int k = 0; k < 32; ++k) {
    EXPECT_EQ(a.long_val[k], k < 18 ? k + 1 : 0) << k;
    EXPECT_EQ(a.long_cid[k], k < 18 ? k : 0) << k;
    EXPECT_EQ(a.long_val[32 + k], k < 20 ? 501 + k : 0) << k;
    EXPECT_EQ(a.long_cid[32 + k], k < 20 ? (5 + k) % 20 : 0) << k;
  }

  // Row blocks {3, 8}: two full spaces, 1 left; {2, 6}: one full space, then 4 of 8; {15}: 4 of 8.
  EXPECT_EQ(a.rowblock_ptr, (Indices{0, 16, 24, 24}));
  EXPECT_EQ(a.reg_val, (Values{301, 302, 303, 304, 801, 802, 803, 804,  //
                               305, 306, 307, 308, 805, 806, 807, 808,  //
                               201, 202, 203, 204, 601, 602, 603, 604}));
  EXPECT_EQ(a.reg_cid, (Indices{3, 4, 5, 6,  8,  9,  10, 11,  //
                                7, 8, 9, 10, 12, 13, 14, 15,  //
                                2, 3, 4, 5,  6,  7,  8,  9}));
  EXPECT_EQ(a.irreg_ptr, (Indices{0, 1, 1, 4, 5, 10}));
  EXPECT_EQ(a.irreg_val, (Values{309, 205, 206, 207, 605, 1501, 1502, 1503, 1504, 1505}));
  EXPECT_EQ(a.irreg_cid, (Indices{11, 6, 7, 8, 10, 15, 16, 17, 18, 19}));

  EXPECT_EQ(a.short_val, (Values{401,  101,  102,  103,   //
                                 1101, 1301, 1302, 1303,  //
                                 1601, 1701, 1702, 1703,  //
                                 901,  902,  903,  904,   //
                                 701,  702,  1201, 1202,  //
                                 1401, 1402, 0,    0,     //
                                 1801}));
  EXPECT_EQ(a.short_cid, (Indices{4, 1, 2,  3,  11, 13, 14, 15, 16, 17, 18, 19, 9, 10, 11, 12,  //
                                  7, 8, 12, 13, 14, 15, 0,  0,  18}));
}

TEST(DaspLayout, ThreesLeftOverArePaddedToFourAfterTheFours) {
  const auto a = small_layout({3, 4, 3, 1});
  EXPECT_EQ(a.row_order, (Indices{3, 0, 1, 2}));
  EXPECT_EQ(a.short_val, (Values{301, 1, 2, 3, 101, 102, 103, 104, 201, 202, 203, 0}));
  EXPECT_EQ(a.short_cid, (Indices{3, 0, 1, 2, 1, 2, 3, 4, 2, 3, 4, 0}));
}

// A space must exceed the threshold 0.75 to be a block: 7 of 8 entries make a block with padding,
// and 6 of 8 entries are irregular.
TEST(DaspLayout, ASpaceIsABlockOnlyAboveTheThreshold) {
  const auto above = small_layout({8, 7});
  EXPECT_EQ(above.rowblock_ptr, (Indices{0, 16}));
  EXPECT_EQ(above.reg_val[15], 0);
  EXPECT_EQ(above.reg_cid[15], 0);
  EXPECT_TRUE(above.irreg_val.empty());
  const auto at = small_layout({7, 7});
  EXPECT_EQ(at.rowblock_ptr, (Indices{0, 8}));
  EXPECT_EQ(at.irreg_ptr, (Indices{0, 3, 6}));
}

TEST(DaspLayout, RowsOfOneLengthAreNeverPadded) {
  for (std::int64_t length = 5; length <= 16; ++length) {
    std::vector<BuildStep> steps;
    const auto matrix = countable(std::vector<std::int64_t>(16, length), 20);
    const auto a = dasp::build<double>(matrix.view(), steps);
    EXPECT_EQ(a.stored_entries(), matrix.nnz()) << length;
  }
}

// The caller's rows, read back from the layout as (column, value) without padding.
template <class Value, int M, int K>
CsrMatrix<Value> read_back(const dasp::Layout<Value, M, K>& a,
                           std::span<const std::int32_t> row_ptr) {
  CsrMatrix<Value> back;
  back.rows = a.rows;
  back.cols = a.cols;
  back.row_ptr.assign(row_ptr.begin(), row_ptr.end());
  back.col_idx.assign(a.nnz, -1);
  back.values.resize(a.nnz);
  const auto put = [&](std::int64_t position, std::int64_t k, const Value& value,
                       std::int32_t cid) {
    const std::int32_t row = a.row_order[position];
    if (k >= row_ptr[row + 1] - row_ptr[row]) {
      EXPECT_EQ(static_cast<float>(value), 0.0f) << "padding of row " << row;
      EXPECT_EQ(cid, 0) << "padding of row " << row;
      return;
    }
    EXPECT_EQ(back.col_idx[row_ptr[row] + k], -1) << "stored twice";
    back.values[row_ptr[row] + k] = value;
    back.col_idx[row_ptr[row] + k] = cid;
  };
  const dasp::Counts& c = a.counts;
  for (std::int64_t i = 0; i < c.long_rows; ++i)
    for (std::int64_t k = 0; k < (a.group_ptr[i + 1] - a.group_ptr[i]) * a.kGroup; ++k) {
      const std::int64_t slot = a.group_ptr[i] * a.kGroup + k;
      put(i, k, a.long_val[slot], a.long_cid[slot]);
    }
  for (std::int64_t i = 0; i < c.medium_rows; ++i) {
    const std::int64_t block = i / M;
    const std::int64_t width = (a.rowblock_ptr[block + 1] - a.rowblock_ptr[block]) / M;
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t slot = a.rowblock_ptr[block] + k / K * a.kBlock + i % M * K + k % K;
      put(c.first_medium() + i, k, a.reg_val[slot], a.reg_cid[slot]);
    }
    for (std::int64_t slot = a.irreg_ptr[i]; slot < a.irreg_ptr[i + 1]; ++slot)
      put(c.first_medium() + i, width + slot - a.irreg_ptr[i], a.irreg_val[slot],
          a.irreg_cid[slot]);
  }
  const auto put_short = [&](std::int64_t position, std::int64_t slot, std::int64_t width) {
    for (std::int64_t k = 0; k < width; ++k)
      put(position, k, a.short_val[slot + k], a.short_cid[slot + k]);
  };
  for (std::int64_t i = 0; i < c.pieces_13; ++i) {
    put_short(c.first_13() + 2 * i, 4 * i, 1);
    put_short(c.first_13() + 2 * i + 1, 4 * i + 1, 3);
  }
  for (std::int64_t i = 0; i < c.pieces_4(); ++i)
    put_short(c.first_4() + i, 4 * (c.piece_4() + i), 4);
  for (std::int64_t i = 0; i < c.twos; ++i)
    put_short(c.first_22() + i, 4 * c.piece_22() + 2 * i, 2);
  for (std::int64_t i = 0; i < c.ones; ++i) put_short(c.first_1() + i, 4 * c.pieces() + i, 1);
  return back;
}

template <class Value>
bool same_values(const Array<Value>& a, const Array<Value>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const Value& left, const Value& right) {
        return static_cast<double>(static_cast<float>(left)) == static_cast<float>(right);
      });
}

template <class Value>
class DaspLayoutOf : public testing::Test {};
using DaspValueTypes = testing::Types<double, float, Half>;
TYPED_TEST_SUITE(DaspLayoutOf, DaspValueTypes);

TYPED_TEST(DaspLayoutOf, HoldsEveryEntryOnceInItsRow) {
  for (const auto& [name, matrix] : test::contract_shapes<TypeParam>()) {
    SCOPED_TRACE(name);
    std::vector<BuildStep> steps;
    const auto a = dasp::build<TypeParam>(matrix.view(), steps);
    const auto back = read_back(a, matrix.row_ptr);
    EXPECT_EQ(back.col_idx, matrix.col_idx);
    EXPECT_TRUE(same_values(back.values, matrix.values));
    Indices sorted = a.row_order;
    std::sort(sorted.begin(), sorted.end());
    Indices all(matrix.rows);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
  }
}

TYPED_TEST(DaspLayoutOf, ClassesAndOrdersRowsByLength) {
  for (const auto& [name, matrix] : test::contract_shapes<TypeParam>()) {
    SCOPED_TRACE(name);
    std::vector<BuildStep> steps;
    const auto a = dasp::build<TypeParam>(matrix.view(), steps);
    const auto length_at = [&, &m = matrix](std::int64_t i) {
      return m.row_ptr[a.row_order[i] + 1] - m.row_ptr[a.row_order[i]];
    };
    for (std::int64_t i = 0; i < a.counts.first_13(); ++i) {
      EXPECT_EQ(i<a.counts.long_rows, length_at(i)> 256);
      if (i >= a.counts.long_rows) {
        EXPECT_GT(length_at(i), 4);
      }
      if (i == 0 || i == a.counts.long_rows) continue;
      if (i < a.counts.long_rows) {
        EXPECT_LT(a.row_order[i - 1], a.row_order[i]);
      } else {
        EXPECT_TRUE(length_at(i - 1) > length_at(i) || a.row_order[i - 1] < a.row_order[i]);
      }
    }
    for (std::int64_t i = a.counts.first_empty(); i < matrix.rows; ++i) EXPECT_EQ(length_at(i), 0);
  }
}

TEST(DaspLayout, DoesNotDependOnTheNumberOfThreads) {
  const int threads = omp_get_max_threads();
  const auto matrix = test::contract_shape<double>("AllMixed");
  std::vector<BuildStep> steps;
  omp_set_num_threads(1);
  const auto alone = dasp::build<double>(matrix.view(), steps);
  omp_set_num_threads(5);
  const auto together = dasp::build<double>(matrix.view(), steps);
  omp_set_num_threads(threads);
  EXPECT_EQ(alone.row_order, together.row_order);
  EXPECT_EQ(alone.reg_val, together.reg_val);
  EXPECT_EQ(alone.reg_cid, together.reg_cid);
  EXPECT_EQ(alone.irreg_val, together.irreg_val);
  EXPECT_EQ(alone.short_val, together.short_val);
  EXPECT_EQ(alone.long_val, together.long_val);
}

}  // namespace
}  // namespace trireme
