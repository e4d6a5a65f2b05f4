// SPDX-License-Identifier: BSD-3-Clause
// Tests that PBC's partition balances the blocks as it says.
#include "kernels/peers/pbc/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/peers/pbc/plan.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

std::vector<std::int32_t> lengths_of(std::int64_t rows, std::int64_t longest, std::uint64_t seed) {
  const auto wide = random_lengths(rows, 1, longest, seed);
  return {wide.begin(), wide.end()};
}

// TEB states 0.23 for the first and 1.29 for the second; layout.hpp of pbc and of amf_csr say why
// that is not so.
TEST(PbcPartition, HasTheVarianceOfEquation5) {
  EXPECT_DOUBLE_EQ(pbc::block_variance(std::vector<std::int64_t>{5, 6, 5}), 2.0 / 9);
  EXPECT_DOUBLE_EQ(pbc::block_variance(std::vector<std::int64_t>{6, 6, 4}), 8.0 / 9);
  EXPECT_EQ(pbc::block_variance(std::vector<std::int64_t>{4, 4, 4, 4}), 0);
  EXPECT_EQ(pbc::block_variance({}), 0);
}

// Every row is in one block, the sums are right, and blocks are numbered by their first rows.
void expect_sound(const pbc::Partition& partition, const std::vector<std::int32_t>& lengths) {
  ASSERT_EQ(partition.block_of.size(), lengths.size());
  std::vector<std::int64_t> nonzeros(partition.nonzeros.size());
  std::int32_t seen = 0;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const std::int32_t block = partition.block_of[row];
    ASSERT_GE(block, 0);
    ASSERT_LE(block, seen);
    seen = std::max(seen, block + 1);
    nonzeros[block] += lengths[row];
  }
  EXPECT_EQ(seen, std::ssize(partition.nonzeros));
  EXPECT_EQ(nonzeros, partition.nonzeros);
}

// pbc::kMaxNonzeros relies on this bound.
TEST(PbcPartition, KeepsBlocksWithinOneRowOfEachOther) {
  for (const std::int64_t rows : {1, 2, 7, 100, 3000})
    for (const std::int64_t longest : {1, 5, 1000})
      for (const std::int64_t blocks : {1, 2, 3, 64}) {
        if (blocks > rows) continue;
        const auto lengths = lengths_of(rows, longest, 7 * rows + blocks);
        const pbc::Partition partition = pbc::partition_rows(lengths, blocks);
        expect_sound(partition, lengths);
        const auto [least, most] = std::ranges::minmax(partition.nonzeros);
        EXPECT_LE(most - least, std::ranges::max(lengths));
      }
}

// The rule, row by row.
std::vector<std::int64_t> dealt_one_by_one(std::vector<std::int32_t> lengths, std::int64_t blocks) {
  std::ranges::sort(lengths, std::greater<>());
  std::vector<std::int64_t> nonzeros(blocks);
  for (const std::int32_t length : lengths) *std::ranges::min_element(nonzeros) += length;
  std::ranges::sort(nonzeros);
  return nonzeros;
}

TEST(PbcPartition, GivesEachRowToTheBlockWithTheFewestNonzeros) {
  for (const std::int64_t longest : {1, 3, 40, 1000})
    for (const std::int64_t blocks : {1, 2, 7, 32}) {
      const auto lengths = lengths_of(500, longest, longest + blocks);
      std::vector<std::int64_t> nonzeros = pbc::partition_rows(lengths, blocks).nonzeros;
      std::ranges::sort(nonzeros);
      EXPECT_EQ(nonzeros, dealt_one_by_one(lengths, blocks));
    }
}

TEST(PbcPartition, TakesTheLeastVarianceOfItsCandidates) {
  for (const std::int64_t rows : {1, 2, 9, 200, 1000}) {
    const auto lengths = lengths_of(rows, 40, rows);
    const pbc::Partition best = pbc::best_partition(lengths, 100, 8);
    expect_sound(best, lengths);
    const auto nnz = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    const std::int64_t first = (nnz + 99) / 100;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t blocks = first; blocks < first + 8 && blocks <= rows; ++blocks)
      least = std::min(least, pbc::block_variance(pbc::partition_rows(lengths, blocks).nonzeros));
    EXPECT_EQ(pbc::block_variance(best.nonzeros), least);
  }
  EXPECT_TRUE(pbc::best_partition({}, 100, 8).nonzeros.empty());
}

TEST(PbcPartition, KeepsNeighboursOfTheSameLengthTogether) {
  const pbc::Partition partition = pbc::partition_rows(std::vector<std::int32_t>(64, 5), 4);
  for (int row = 0; row < 64; ++row) EXPECT_EQ(partition.block_of[row], row / 16);
}

}  // namespace
}  // namespace trireme::test
