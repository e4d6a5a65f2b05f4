// SPDX-License-Identifier: BSD-3-Clause
// The inverted diagonal blocks of block Jacobi on the host satisfy B B^-1 = I for every order of
// pivots.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "solvers/preconditioners/list.hpp"
#include "support/random.hpp"

namespace trireme::solvers {
namespace {

using Dense = std::vector<std::vector<double>>;

// A block whose row i has its largest entry in column order[i], so that elimination must exchange
// rows.
Dense permuted(const std::vector<int>& order) {
  test::Random random(7);
  Dense block(order.size(), std::vector<double>(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (double& value : block[i]) value = 0.1 * random.value<double>();
    block[i][order[i]] = 2 + static_cast<double>(i);
  }
  return block;
}

// The rows of all blocks, one after the other, padded with zeros to `size` entries per row.
Array<double> stacked(const std::vector<Dense>& blocks, std::int32_t size) {
  Array<double> entries;
  for (const Dense& block : blocks)
    for (const std::vector<double>& row : block) {
      entries.insert(entries.end(), row.begin(), row.end());
      entries.resize(entries.size() + size - row.size(), 0.0);
    }
  return entries;
}

double distance_from_identity(const Dense& block, const double* inverse, std::int32_t size) {
  double largest = 0;
  for (std::size_t i = 0; i < block.size(); ++i)
    for (std::size_t j = 0; j < block.size(); ++j) {
      double sum = i == j ? -1 : 0;
      for (std::size_t k = 0; k < block.size(); ++k) sum += block[i][k] * inverse[k * size + j];
      largest = std::max(largest, std::abs(sum));
    }
  return largest;
}

PreconditionerSpec spec_of(const Array<double>& entries, std::int32_t size) {
  PreconditionerSpec spec;
  spec.kind = PreconditionerSpec::Kind::blocks;
  spec.block_size = size;
  spec.blocks = entries;
  return spec;
}

TEST(BlockInverse, UndoesEveryOrderOfPivotsOfThreeAndFourRows) {
  for (const int width : {3, 4}) {
    std::vector<int> order(width);
    std::iota(order.begin(), order.end(), 0);
    do {
      const Dense block = permuted(order);
      const Array<double> entries = stacked({block}, width);
      const PreconditionerSpec spec = spec_of(entries, width);
      const Array<double> inverse = invert_blocks(block_rows(spec, width), spec);
      EXPECT_LE(distance_from_identity(block, inverse.data(), width), 1e-14)
          << testing::PrintToString(order);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// The widest block. Each row is exchanged with a row that was itself exchanged before.
TEST(BlockInverse, UndoesACycleOfThirtyTwoPivots) {
  std::vector<int> order(32);
  for (int i = 0; i < 32; ++i) order[i] = (i + 5) % 32;
  const Dense block = permuted(order);
  const Array<double> entries = stacked({block}, 32);
  const PreconditionerSpec spec = spec_of(entries, 32);
  const Array<double> inverse = invert_blocks(block_rows(spec, 32), spec);
  EXPECT_LE(distance_from_identity(block, inverse.data(), 32), 1e-13);
}

// First natural blocks of 4 rows, the last of 2 rows; then groups of 3, 4, 2 and 1 rows.
TEST(BlockInverse, TakesBlocksOfSeveralWidths) {
  struct Cut {
    std::vector<Dense> blocks;
    std::vector<std::int32_t> starts;
  };
  const Dense two = permuted({1, 0}), three = permuted({2, 0, 1}), four = permuted({3, 0, 1, 2});
  for (const Cut& cut :
       {Cut{{four, four, two}, {}}, Cut{{three, four, two, {{4}}}, {0, 3, 7, 9, 10}}}) {
    const Array<double> entries = stacked(cut.blocks, 4);
    PreconditionerSpec spec = spec_of(entries, 4);
    spec.group_starts = cut.starts;
    const BlockRows rows = block_rows(spec, 10);
    const Array<double> inverse = invert_blocks(rows, spec);
    const Array<RowGroup> groups = rows.groups();
    std::int64_t row = 0;
    for (const Dense& block : cut.blocks) {
      EXPECT_LE(distance_from_identity(block, inverse.data() + row * 4, 4), 1e-14)
          << "from row " << row;
      if (!cut.starts.empty())
        for (std::size_t i = 0; i < block.size(); ++i) {
          EXPECT_EQ(groups[row + i].first, row);
          EXPECT_EQ(groups[row + i].last, row + std::ssize(block));
        }
      row += std::ssize(block);
    }
  }
}

TEST(BlockInverse, NamesASingularBlockByTheRowOfTheCaller) {
  const Dense regular = permuted({1, 0}), singular = {{1, 2}, {2, 4}};
  const Array<double> entries = stacked({regular, singular}, 2);
  PreconditionerSpec spec = spec_of(entries, 2);
  spec.first_row = 100;
  const auto line = [&]() -> std::string {
    try {
      invert_blocks(block_rows(spec, 4), spec);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(line().find("from row 102 "), std::string::npos) << line();
  const std::vector<std::int32_t> callers_rows = {7, 8, 3, 4};
  spec.callers_rows = callers_rows;
  EXPECT_NE(line().find("from row 3 "), std::string::npos) << line();
}

}  // namespace
}  // namespace trireme::solvers
