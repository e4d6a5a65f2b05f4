// SPDX-License-Identifier: BSD-3-Clause
// Tests what is particular to the products that share CSR among threads: the rule, rows that are
// cut at every place of a warp and a block, and the sums over lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/multi_product.hpp"
#include "kernels/peers/spmm/product.hpp"
#include "kernels/peers/spmm/rule.hpp"
#include "kernels/peers/spmm/spmm.hpp"
#include "kernels/peers/spmm/warp.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme::spmm {
namespace {

constexpr SpmmSplit kSplits[] = {SpmmSplit::row_thread, SpmmSplit::row_warp, SpmmSplit::row_reduce,
                                 SpmmSplit::nnz_thread, SpmmSplit::nnz_tile, SpmmSplit::nnz_warp,
                                 SpmmSplit::nnz_cache,  SpmmSplit::by_rule};

TEST(SpmmRule, PicksTheReductionByTheNumberOfVectors) {
  struct Choice {
    std::int64_t vectors;
    SpmmSplit even, uneven;
  };
  for (const Choice& choice : {Choice{1, SpmmSplit::row_reduce, SpmmSplit::nnz_warp},
                               {4, SpmmSplit::row_reduce, SpmmSplit::nnz_warp},
                               {5, SpmmSplit::row_thread, SpmmSplit::nnz_tile},
                               {31, SpmmSplit::row_thread, SpmmSplit::nnz_tile},
                               {32, SpmmSplit::row_warp, SpmmSplit::nnz_cache},
                               {100, SpmmSplit::row_warp, SpmmSplit::nnz_cache}}) {
    EXPECT_EQ(choose_split(choice.vectors, false), choice.even) << choice.vectors;
    EXPECT_EQ(choose_split(choice.vectors, true), choice.uneven) << choice.vectors;
  }
}

TEST(SpmmRule, RowsAreUnevenWhereTheirDeviationIsLargerThanTheirMean) {
  const auto uneven = [](std::vector<std::int32_t> row_ptr) { return uneven_rows(row_ptr); };
  EXPECT_FALSE(uneven({0}));
  EXPECT_FALSE(uneven({0, 0, 0}));
  EXPECT_FALSE(uneven({0, 7, 14, 21}));
  EXPECT_FALSE(uneven({0, 0, 2}));    // mean 1, deviation 1
  EXPECT_TRUE(uneven({0, 0, 0, 3}));  // mean 1, deviation 1.41
}

TEST(SpmmProduct, FindsTheRowOfANonzeroBetweenEmptyRows) {
  const std::vector<std::int32_t> row_ptr{0, 0, 2, 2, 2, 5, 5};
  const CsrView<double> a{.rows = 6, .cols = 9, .row_ptr = row_ptr, .col_idx = {}, .values = {}};
  const std::vector<std::int64_t> expected{1, 1, 4, 4, 4};
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(row_of(a, static_cast<std::int64_t>(k)), expected[k]) << k;
}

TEST(SpmmWarp, ATreeSumsEveryLaneOnce) {
  WarpSums<double> sums;
  for (int lane = 0; lane < kLanes; ++lane) {
    sums.of[lane][0] = 1 << (lane % 16);
    sums.of[lane][1] = lane;
  }
  reduce(sums, 2);
  EXPECT_EQ(sums.of[0][0], 2 * 65535);
  EXPECT_EQ(sums.of[0][1], 31 * 16);
}

TEST(SpmmWarp, SegmentsAreSummedApart) {
  const std::vector<int> lengths{1, 2, 3, 5, 8, 1, 12};  // 32 lanes
  WarpSums<double> sums;
  std::int64_t rows[kLanes];
  int lane = 0;
  for (std::size_t segment = 0; segment < lengths.size(); ++segment)
    for (int k = 0; k < lengths[segment]; ++k, ++lane) {
      rows[lane] = 10 + static_cast<std::int64_t>(segment);
      sums.of[lane][0] = 1;
    }
  ASSERT_EQ(lane, kLanes);
  reduce_segments(sums, rows, 1);
  lane = 0;
  for (const int length : lengths) {
    EXPECT_EQ(sums.of[lane][0], length);
    lane += length;
  }
}

template <class Value>
void expect_right(SpmmSplit split, const CsrView<Value>& a, std::int64_t width) {
  const auto kernel = build_spmm_host<Value>(split, a);
  Array<Value> x = test::random_vector<Value>(a.cols * width), y(a.rows * width);
  const Array<Value> before = test::random_vector<Value>(a.rows * width, 3);
  for (const Accumulate how : {Accumulate::no, Accumulate::yes}) {
    y = how == Accumulate::yes ? before : test::poisoned_vector<Value>(a.rows * width);
    kernel->multi_multiply(side_by_side(x.data(), a.cols, width),
                           side_by_side(y.data(), a.rows, width), how);
    for (std::int64_t j = 0; j < width; ++j) {
      const auto vector = [&](const Array<Value>& all, std::int64_t size) {
        Array<Value> one(size);
        for (std::int64_t i = 0; i < size; ++i) one[i] = all[i * width + j];
        return one;
      };
      const auto start = how == Accumulate::yes ? vector(before, a.rows) : Array<Value>();
      EXPECT_TRUE(test::judge(
          compare_product<Value>(a, vector(x, a.cols), vector(y, a.rows), start), "product"))
          << "vector " << j << " of " << width;
    }
  }
}

// Rows that begin and end one nonzero before, at and behind the ends of warps and blocks, with
// empty rows between them.
TEST(SpmmSplits, AreRightWhereverTheyCutARow) {
  for (const std::int64_t share : {std::int64_t{kNonzeros}, kPerBlockOfWarps, kPerBlockOfThreads})
    for (const std::int64_t shift : {-1, 0, 1}) {
      const std::int64_t edge = share + shift;
      for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{edge},
                                                       {edge, 0, 1},
                                                       {0, edge, edge, edge},
                                                       {1, edge, 0, edge},
                                                       {edge, 3 * share, 5},
                                                       {5, 3 * share - 5, share},
                                                       {share, share, share, shift + 2}}) {
        const auto a = test::matrix_with_row_lengths<double>(lengths, 3 * share);
        for (const SpmmSplit split : kSplits) {
          SCOPED_TRACE(std::to_string(edge) + ", split " + std::to_string(static_cast<int>(split)));
          expect_right(split, a.view(), 3);
        }
      }
    }
}

// The last tile has one vector, or all but one.
TEST(SpmmSplits, AreRightWithTilesThatAreNotFull) {
  const auto a = test::contract_shape<float>("AllMixed");
  for (const SpmmSplit split : kSplits)
    for (const std::int64_t width : {kTile - 1, kTile, kTile + 1, 2 * kTile + 1}) {
      SCOPED_TRACE(static_cast<int>(split));
      expect_right(split, a.view(), width);
    }
}

}  // namespace
}  // namespace trireme::spmm
