// SPDX-License-Identifier: BSD-3-Clause
// The ranks agree on hits and misses, whatever one of them finds.
#include "cache/shared_cache.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// One folder for all ranks.
class SharedCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "trireme-shared-XXXXXX";
    if (rank_of(MPI_COMM_WORLD) == 0) {
      ASSERT_NE(mkdtemp(name.data()), nullptr);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = name;
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) fs::remove_all(folder_);
  }

  // The path of a file on all ranks, where they have written and not yet read.
  fs::path path_of(const CacheKey& key, int rank) const {
    MPI_Barrier(MPI_COMM_WORLD);
    CacheKey of_rank = key;
    of_rank.add("rank", fmt::format("{} of {}", rank, size_of(MPI_COMM_WORLD)));
    return Cache(folder_).path_of(of_rank);
  }

  fs::path folder_;
};

KernelDecision decision() {
  KernelDecision decision{.kernel = "sell", .ordering = "rcm", .trial = {}, .iterations = 217};
  decision.trial.candidates = {{.kernel = "sell",
                                .ordering = "rcm",
                                .predicted_us = 30.5,
                                .build_seconds = 0.25,
                                .product_us = 29,
                                .chosen = true,
                                .verdict = "the least total"},
                               {.kernel = "csr",
                                .predicted_us = 1e300 * 1e300,
                                .build_seconds = {},
                                .product_us = {},
                                .verdict = "predicted 2.1 times slower"}};
  decision.trial.expected_products = 1000;
  decision.trial.expected_from = "repeat: 10";
  decision.trial.budget_seconds = 0.5;
  decision.trial.seconds = 0.375;
  decision.trial.changed_at = 12;
  return decision;
}

TEST_F(SharedCacheTest, FindsADecisionOnAllRanks) {
  SharedCache cache(MPI_COMM_WORLD, folder_);
  const CacheKey key = CacheKey(kDecisionKind).add("pattern", "a");
  EXPECT_FALSE(cache.find_decision(key));
  cache.keep_decision(key, decision(), 0.375);
  const auto found = cache.find_decision(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel, "sell");
  EXPECT_EQ(found->ordering, "rcm");
  EXPECT_EQ(found->iterations, 217);
  EXPECT_TRUE(found->trial.from_cache);
  EXPECT_EQ(found->trial.expected_products, 1000);
  EXPECT_EQ(found->trial.expected_from, "repeat: 10");
  EXPECT_EQ(found->trial.budget_seconds, 0.5);
  EXPECT_EQ(found->trial.seconds, 0.375);
  EXPECT_EQ(found->trial.changed_at, 12);
  ASSERT_EQ(found->trial.candidates.size(), 2u);
  const TrialCandidate& best = found->trial.candidates[0];
  EXPECT_EQ(best.kernel, "sell");
  EXPECT_EQ(best.predicted_us, 30.5);
  EXPECT_EQ(best.build_seconds, 0.25);
  EXPECT_EQ(best.product_us, 29);
  EXPECT_TRUE(best.chosen);
  EXPECT_EQ(best.verdict, "the least total");
  EXPECT_FALSE(found->trial.candidates[1].product_us);
  EXPECT_TRUE(std::isnan(found->trial.candidates[1].predicted_us));
  EXPECT_FALSE(cache.find_decision(CacheKey(kDecisionKind).add("pattern", "b")));
  EXPECT_TRUE(cache.take_notes().empty());
}

TEST_F(SharedCacheTest, IgnoresADecisionThatIsNone) {
  const CacheKey key = CacheKey(kDecisionKind).add("pattern", "a");
  const std::string text = R"({"kernel": "sell"})";
  if (rank_of(MPI_COMM_WORLD) == 0) Cache(folder_).keep(key, std::as_bytes(std::span(text)), 0);
  SharedCache cache(MPI_COMM_WORLD, folder_);
  EXPECT_FALSE(cache.find_decision(key));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);  // on every rank
  EXPECT_NE(notes[0].find("does not understand"), std::string::npos) << notes[0];
  EXPECT_FALSE(cache.find_decision(key));
  EXPECT_TRUE(cache.take_notes().empty());
}

Array<std::int32_t> order_of_this_rank() {
  Array<std::int32_t> order(10 + rank_of(MPI_COMM_WORLD));
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

TEST_F(SharedCacheTest, FindsTheOrderOfEachRank) {
  SharedCache cache(MPI_COMM_WORLD, folder_);
  const CacheKey key = CacheKey(kOrderKind).add("ordering", "rcm");
  const Array<std::int32_t> order = order_of_this_rank();
  EXPECT_FALSE(cache.find_order(key, std::ssize(order)));
  cache.keep_order(key, order, 0.1);
  const auto found = cache.find_order(key, std::ssize(order));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, order);
  EXPECT_FALSE(cache.find_order(CacheKey(key).add("threads", 3), std::ssize(order)));
  EXPECT_TRUE(cache.take_notes().empty());
}

TEST_F(SharedCacheTest, FindsNoOrderWhereTheLastRankHasNone) {
  SharedCache cache(MPI_COMM_WORLD, folder_);
  const CacheKey key = CacheKey(kOrderKind).add("ordering", "rcm");
  const Array<std::int32_t> order = order_of_this_rank();
  cache.keep_order(key, order, 0.1);
  const int last = size_of(MPI_COMM_WORLD) - 1;
  const fs::path damaged = path_of(key, last);
  if (rank_of(MPI_COMM_WORLD) == last) fs::resize_file(damaged, fs::file_size(damaged) - 1);
  EXPECT_FALSE(cache.find_order(key, std::ssize(order)));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(damaged.string()), std::string::npos) << notes[0];
}

TEST_F(SharedCacheTest, DropsANumberThatIsNone) {
  SharedCache cache(MPI_COMM_WORLD, folder_);
  const CacheKey key("iterations");
  cache.keep_number(key, -7);
  EXPECT_FALSE(cache.find_number(key));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("is no number"), std::string::npos) << notes[0];
  EXPECT_FALSE(cache.find_number(key));
  EXPECT_TRUE(cache.take_notes().empty()) << "it is there still";
}

TEST_F(SharedCacheTest, IgnoresAnOrderThatIsNoPermutationOrHasAnotherLength) {
  SharedCache cache(MPI_COMM_WORLD, folder_);
  const CacheKey key = CacheKey(kOrderKind).add("ordering", "rcm");
  Array<std::int32_t> order = order_of_this_rank();
  cache.keep_order(key, order, 0.1);
  EXPECT_FALSE(cache.find_order(key, std::ssize(order) + 1));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("has not one number per row"), std::string::npos) << notes[0];
  order[3] = order[4];
  cache.keep_order(key, order, 0.1);
  EXPECT_FALSE(cache.find_order(key, std::ssize(order)));
  order[3] = -1;
  cache.keep_order(key, order, 0.1);
  EXPECT_FALSE(cache.find_order(key, std::ssize(order)));
}

// The rows of each rank, cut at `starts`, in reverse order.
CachedPlacement reversed(const std::vector<std::int64_t>& starts) {
  const int rank = rank_of(MPI_COMM_WORLD);
  CachedPlacement placement{starts, Array<std::int32_t>(starts[rank + 1] - starts[rank])};
  for (std::size_t k = 0; k < placement.new_rows.size(); ++k)
    placement.new_rows[k] =
        static_cast<std::int32_t>(starts.back() - 1 - starts[rank]) - static_cast<std::int32_t>(k);
  return placement;
}

std::vector<std::int64_t> equal_cuts(std::int64_t rows_of_rank) {
  std::vector<std::int64_t> starts{0};
  for (int rank = 0; rank < size_of(MPI_COMM_WORLD); ++rank)
    starts.push_back(starts.back() + rows_of_rank);
  return starts;
}

TEST_F(SharedCacheTest, FindsAPlacementWhereAllRanksHaveTheSameCuts) {
  SharedCache cache(MPI_COMM_WORLD, folder_);
  const CacheKey key = CacheKey(kPlacementKind).add("pattern", "a");
  const std::vector<std::int64_t> starts = equal_cuts(10);
  EXPECT_FALSE(cache.find_placement(key, starts));
  CachedPlacement placement = reversed(starts);
  cache.keep_placement(key, placement, 0.1);
  const auto found = cache.find_placement(key, starts);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->row_starts, starts);
  EXPECT_EQ(found->new_rows, placement.new_rows);
  const int ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 3) return;
  // The last rank has all cuts but one in common with the others.
  for (int changed = 1; changed < ranks; ++changed) {
    CachedPlacement other = placement;
    if (rank_of(MPI_COMM_WORLD) == ranks - 1) ++other.row_starts[changed];
    cache.keep_placement(key, other, 0.1);
    EXPECT_FALSE(cache.find_placement(key, starts)) << "cut " << changed;
  }
}

TEST_F(SharedCacheTest, IgnoresAPlacementThatIsNotForTheseRows) {
  SharedCache cache(MPI_COMM_WORLD, folder_);
  const CacheKey key = CacheKey(kPlacementKind).add("pattern", "a");
  const std::vector<std::int64_t> starts = equal_cuts(10);
  const auto expect_none = [&](const CachedPlacement& placement) {
    cache.keep_placement(key, placement, 0.1);
    EXPECT_FALSE(cache.find_placement(key, starts));
  };
  expect_none(reversed(equal_cuts(9)));
  CachedPlacement placement = reversed(starts);
  placement.new_rows[2] = static_cast<std::int32_t>(starts.back());
  expect_none(placement);
  placement.new_rows[2] = -1;
  expect_none(placement);
}

TEST(SharedCacheWithoutAFolder, FindsAndKeepsNothing) {
  SharedCache cache(MPI_COMM_WORLD, {});
  EXPECT_FALSE(cache.used());
  const CacheKey key(kDecisionKind);
  cache.keep_decision(key, decision(), 1);
  EXPECT_FALSE(cache.find_decision(key));
  EXPECT_TRUE(cache.take_notes().empty());
}

}  // namespace
}  // namespace trireme
