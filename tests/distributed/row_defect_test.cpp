// SPDX-License-Identifier: BSD-3-Clause
// The part of the row sums of a distributed matrix that rounding to FP32 loses, A 1 - A32 1, before
// and after new values, with ghosts. Run on 1, 2, 3 and 5 ranks.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "distributed/float_values.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "sparse/row_blocks.hpp"
#include "support/random.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

// 40 rows, each with a diagonal entry, a neighbour on either side, and an entry 17 columns further,
// which belongs to another rank.
CsrMatrix<double> banded() {
  CsrMatrix<double> a;
  a.rows = a.cols = 40;
  test::Random random(3);
  for (std::int32_t row = 0; row < 40; ++row) {
    for (const std::int32_t column : {row - 1, row, row + 1, row + 17})
      if (column >= 0 && column < 40) {
        a.col_idx.push_back(column);
        a.values.push_back(random.value<double>() / 3);
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

void expect_defect(const HostOperator& op, const CsrMatrix<double>& a) {
  const std::int64_t first = op.matrix().first_row();
  ASSERT_EQ(std::ssize(op.row_defect()), op.matrix().local_rows());
  for (std::int64_t i = 0; i < op.matrix().local_rows(); ++i) {
    double lost = 0, size = 0;
    for (std::int32_t k = a.row_ptr[first + i]; k < a.row_ptr[first + i + 1]; ++k) {
      const double rounding = a.values[k] - static_cast<double>(static_cast<float>(a.values[k]));
      lost += rounding;
      size += std::abs(rounding);
    }
    EXPECT_NEAR(op.row_defect()[i], lost, 1e-6 * size) << "row " << first + i;
  }
}

std::span<const double> own_values(const HostOperator& op, const CsrMatrix<double>& a) {
  const std::int64_t first = op.matrix().first_row();
  const std::int64_t last = first + op.matrix().local_rows();
  return std::span(a.values).subspan(a.row_ptr[first], a.row_ptr[last] - a.row_ptr[first]);
}

TEST(RowDefect, IsThatOfAllColumnsAndFollowsNewValues) {
  for (const Cut cut : {Cut::by_nonzeros, Cut::first_rank_empty}) {
    CsrMatrix<double> a = banded();
    HostOperator op(matrix_on_ranks(MPI_COMM_WORLD, a, cut), "csr", Precision::mixed);
    ASSERT_TRUE(op.inexact());
    expect_defect(op, a);
    for (double& value : a.values) value = 0.7 - 2 * value;
    op.update_values(own_values(op, a));
    expect_defect(op, a);
  }
}

TEST(RowDefect, LeavesOutTheGhostsWhereTheCallerSaysSo) {
  const CsrMatrix<double> a = banded();
  const SplitRows blocks{.local = a, .ghost = a, .ghost_columns = {}, .is_ghost = {}};
  const Array<float> without = row_defect(blocks, false), with = row_defect(blocks, true);
  for (std::int64_t i = 0; i < a.rows; ++i) EXPECT_FLOAT_EQ(with[i], 2 * without[i]);
}

TEST(RowDefect, OfBlocksOfRowsIsThatOfOneBlock) {
  const CsrMatrix<double> a = banded();
  const Array<float> one =
      row_defect({.local = a, .ghost = a, .ghost_columns = {}, .is_ghost = {}}, true);
  CsrMatrix<double> cut = a;
  cut_again(cut, a.nnz() / 4);
  ASSERT_GE(cut.cuts.size(), 3u);
  EXPECT_EQ(row_defect({.local = cut, .ghost = cut, .ghost_columns = {}, .is_ghost = {}}, true),
            one);
}

}  // namespace
}  // namespace trireme
