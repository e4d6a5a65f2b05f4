// SPDX-License-Identifier: BSD-3-Clause
// Tests the blocks of rows of a matrix, with few nonzeros and with more than there is memory for.
#include "sparse/row_blocks.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.hpp"
#include "sparse/generators.hpp"
#include "sparse/partition.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using Cuts = std::vector<std::int64_t>;

CsrMatrix<double> of_lengths(const Array<std::int32_t>& lengths, std::int64_t most) {
  CsrMatrix<double> a;
  a.cols = 1;
  const std::int64_t nnz = set_row_lengths(lengths, most, "the matrix", a);
  a.col_idx.assign(nnz, 0);
  a.values.resize(nnz);
  std::iota(a.values.begin(), a.values.end(), 0.0);
  return a;
}

TEST(RowBlocks, ARowThatDoesNotFitBeginsTheNextBlock) {
  const CsrMatrix<double> a = of_lengths({2, 3, 1, 0, 4}, 5);
  EXPECT_EQ(a.cuts, (Cuts{2}));
  EXPECT_EQ(a.row_ptr, (Array<std::int32_t>{0, 2, 5, 0, 1, 1, 5}));
  const auto blocks = a.blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[1].first_row, 2);
  EXPECT_EQ(blocks[1].first_entry, 5);
  EXPECT_EQ(blocks[1].csr.rows, 3);
  EXPECT_EQ(blocks[1].csr.nnz(), 5);
  EXPECT_EQ(blocks[1].csr.values[0], 5);
  EXPECT_EQ(a.nnz(), 10);
}

TEST(RowBlocks, EmptyRowsAtABorderBelongToTheBlockBeforeIt) {
  const CsrMatrix<double> a = of_lengths({5, 0, 0, 5, 0, 0, 0, 1, 0}, 5);
  EXPECT_EQ(a.cuts, (Cuts{3, 7}));
  for (std::int64_t row = 0, before = 0; row <= a.rows; ++row) {
    EXPECT_EQ(a.row_begin(row), before) << row;
    if (row < a.rows) before += Array<std::int32_t>{5, 0, 0, 5, 0, 0, 0, 1, 0}[row];
  }
}

TEST(RowBlocks, AMatrixWithoutRowsIsOneBlock) {
  const CsrMatrix<double> a = of_lengths({}, 5);
  EXPECT_EQ(a.blocks().size(), 1u);
  EXPECT_EQ(a.row_begin(0), 0);
}

TEST(RowBlocks, ARowOfTooManyNonzerosIsRefusedByItsNumber) {
  for (const bool again : {false, true}) {
    try {
      if (again) {
        CsrMatrix<double> a = of_lengths({2, 6, 1}, 9);
        cut_again(a, 5);
      } else {
        of_lengths({2, 6, 1}, 5);
      }
      FAIL() << "taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::resource);
      EXPECT_NE(std::string(error.what()).find("row 1 (from 0, of this process) has 6 nonzeros"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(RowBlocks, CuttingAgainKeepsTheRows) {
  for (const auto& [name, whole] : test::contract_shapes<double>()) {
    SCOPED_TRACE(name);
    CsrMatrix<double> a = whole;
    for (const std::int64_t most : {whole.nnz() / 3 + 5001, whole.nnz() / 9 + 5000, whole.nnz()}) {
      cut_again(a, most);
      std::int64_t rows = 0, entries = 0;
      for (const RowBlock<double>& block : a.blocks()) {
        ASSERT_LE(block.csr.nnz(), most);
        ASSERT_EQ(block.csr.row_ptr.front(), 0);
        for (std::int64_t row = 0; row < block.csr.rows; ++row, ++rows)
          ASSERT_EQ(block.first_entry + block.csr.row_ptr[row], whole.row_ptr[rows]);
        ASSERT_EQ(block.first_entry, entries);
        entries += block.csr.nnz();
      }
      EXPECT_EQ(rows, whole.rows);
      EXPECT_EQ(entries, whole.nnz());
    }
    EXPECT_EQ(a.row_ptr, whole.row_ptr);
  }
}

TEST(RowBlocks, WhatTakesOneBlockRefusesSeveral) {
  const CsrMatrix<double> a = of_lengths({2, 3, 1, 0, 4}, 5);
  EXPECT_THROW(a.view(), Error);
  EXPECT_THROW(a.require_one_block(), Error);
  EXPECT_EQ(of_lengths({2, 3}, 5).view().nnz(), 5);
}

// poisson3d 850 has 4.3 G nonzeros: seven per row, less those that its borders lack.
TEST(RowBlocks, CutsRowsOfMoreThanTwoToTheThirtyOneNonzeros) {
  constexpr std::int64_t kRows = 850LL * 850 * 850, kPerRow = 7;
  const auto before = [](std::int64_t row) { return kPerRow * row; };
  const Cuts cuts = cut_rows_into_blocks(kRows, kNonzerosOfBlock, "the matrix", before);
  ASSERT_EQ(cuts.size(), 2u);
  EXPECT_EQ(cuts[0], kNonzerosOfBlock / kPerRow);
  EXPECT_EQ(cuts[1], 2 * (kNonzerosOfBlock / kPerRow));
  EXPECT_LE(before(kRows) - before(cuts[1]), kNonzerosOfBlock);
}

// A thread of a CUDA kernel adds the width of its warp or of its tile to a number below the end of
// the entries, and then compares.
TEST(RowBlocks, LeaveRoomForCountersOf32BitsBeyondTheLastEntry) {
  constexpr std::int64_t kTile = 2048, kLanes = 32;
  EXPECT_LE(kNonzerosOfBlock + kTile * kLanes - 1, std::int64_t{2147483647});
}

// Offsets of three blocks of 2^31-1 nonzeros: nobody allocates the entries.
TEST(RowBlocks, CountsEntriesBeyondTwoToTheThirtyOne) {
  CsrMatrix<double> a;
  const Array<std::int32_t> lengths{2147483647, 2147483646, 1, 2147483647};
  const std::int64_t nnz = set_row_lengths(lengths, kMostNonzerosOfBlock, "the matrix", a);
  EXPECT_EQ(nnz, 3 * 2147483647LL);
  EXPECT_EQ(a.cuts, (Cuts{1, 3}));
  EXPECT_EQ(a.row_begin(2), 2147483647LL + 2147483646);
  EXPECT_EQ(a.row_begin(3), 2 * 2147483647LL);
  EXPECT_EQ(a.row_begin(4), 3 * 2147483647LL);
}

TEST(RowBlocks, SharesOfRanksCountBeyondTwoToTheThirtyOne) {
  const auto starts = split_by_nonzeros(
      3'000'000'000, [](std::int64_t row) { return 3 * row; }, 2);
  EXPECT_EQ(starts, (Cuts{0, 1'500'000'000, 3'000'000'000}));
}

TEST(RowBlocks, AGeneratorMakesTheSameRowsInBlocks) {
  const GenerateSpec spec{.kind = "poisson3d", .n = 9};
  const RowSlab whole = generate(spec, 100, 700), parts = generate(spec, 100, 700, 500);
  EXPECT_GE(parts.local.cuts.size(), 7u);
  EXPECT_EQ(parts.local.col_idx, whole.local.col_idx);
  EXPECT_EQ(parts.local.values, whole.local.values);
  for (std::int64_t row = 0; row <= whole.local.rows; ++row)
    ASSERT_EQ(parts.local.row_begin(row), whole.local.row_begin(row));
}

}  // namespace
}  // namespace trireme
