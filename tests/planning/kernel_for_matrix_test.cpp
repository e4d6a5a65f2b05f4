// SPDX-License-Identifier: BSD-3-Clause
// The traits of a distributed matrix are those of all ranks together.
#include "planning/kernel_for_matrix.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sparse/generators.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kRowsPerRank = 4000;

// Every rank has kRowsPerRank rows: those of one matrix, of the kind that it names.
MatrixTraits traits_with(const std::string& kind, std::int64_t k = 16) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= ranks; ++r) starts.push_back(r * kRowsPerRank);
  const auto matrix = distribute(
      MPI_COMM_WORLD,
      generate({.kind = kind, .n = ranks * kRowsPerRank, .k = k}, starts[rank], starts[rank + 1]),
      starts);
  return traits_of(*matrix);
}

std::string kind_of_last_rank(const char* last, const char* others) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return rank == ranks - 1 ? last : others;
}

TEST(TraitsOfRanks, HaveFewPatternsWhereTheRowsOfEveryRankHave) {
  EXPECT_TRUE(traits_with("bands", 4).few_patterns);
  EXPECT_FALSE(traits_with("random").few_patterns);
}

TEST(TraitsOfRanks, HaveManyPatternsWhereTheRowsOfOneRankHave) {
  EXPECT_FALSE(traits_with(kind_of_last_rank("random", "bands"), 4).few_patterns);
}

TEST(TraitsOfRanks, HaveTheLongestRowOfAllRanks) {
  EXPECT_EQ(traits_with(kind_of_last_rank("bands", "random"), 4).longest, 9);
}

}  // namespace
}  // namespace trireme
