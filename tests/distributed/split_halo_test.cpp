// SPDX-License-Identifier: BSD-3-Clause
// The parts of a halo plan bring every ghost once and to its place, for made-up plans and groups of
// ranks.
#include "distributed/split_halo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace trireme {
namespace {

using Groups = std::vector<int>;
using Vectors = std::vector<std::vector<double>>;  // one per rank

constexpr std::int32_t kRows = 50;  // of each rank

double value(int rank, std::int32_t row) { return 1000 * rank + row; }

// Plans of `ranks` ranks, in which a rank sends rows to another one with the given probability.
std::vector<HaloPlan> random_plans(int ranks, double probability, std::mt19937& random) {
  std::vector<HaloPlan> plans(ranks);
  std::bernoulli_distribution sends(probability);
  std::uniform_int_distribution<std::int32_t> count(1, kRows), row(0, kRows - 1);
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      if (from == to || !sends(random)) continue;
      HaloPlan& here = plans[from];
      HaloPlan& there = plans[to];
      const std::int32_t number = count(random);
      here.sends.push_back({to, static_cast<std::int32_t>(here.send_rows.size()), number});
      for (std::int32_t k = 0; k < number; ++k) here.send_rows.push_back(row(random));
      there.receives.push_back({from, there.ghosts, number});
      there.ghosts += number;
    }
  return plans;
}

// The ghost vector of each of the ranks `members`, whose plans name each other by their numbers in
// `members`. Fails where the entries that one rank sends are not those that the other one awaits.
Vectors ghosts_by(const std::vector<const HaloPlan*>& plans, const std::vector<int>& members) {
  Vectors ghosts;
  for (std::size_t to = 0; to < plans.size(); ++to) {
    std::vector<int> arrivals(plans[to]->ghosts, 0);
    std::vector<double>& numbers = ghosts.emplace_back(plans[to]->ghosts, -1.0);
    for (const auto& from : plans[to]->receives) {
      const HaloPlan& there = *plans[from.rank];
      const auto sent =
          std::ranges::find(there.sends, static_cast<int>(to), &HaloPlan::Neighbour::rank);
      EXPECT_NE(sent, there.sends.end());
      if (sent == there.sends.end()) continue;
      EXPECT_EQ(sent->count, from.count);
      for (std::int32_t k = 0; k < from.count; ++k) {
        numbers.at(from.offset + k) =
            value(members[from.rank], there.send_rows.at(sent->offset + k));
        ++arrivals.at(from.offset + k);
      }
    }
    EXPECT_EQ(std::ranges::count(arrivals, 1), std::ssize(arrivals));
    for (const auto& sent : plans[to]->sends)
      EXPECT_EQ(std::ranges::count(plans[sent.rank]->receives, static_cast<int>(to),
                                   &HaloPlan::Neighbour::rank),
                1);
  }
  return ghosts;
}

std::vector<int> members_of(const Groups& groups, int group) {
  std::vector<int> members;
  for (int rank = 0; rank < std::ssize(groups); ++rank)
    if (groups[rank] == group) members.push_back(rank);
  return members;
}

// The ghosts of each rank by the two parts of its plan.
Vectors ghosts_by_parts(const std::vector<SplitHalo>& parts, const Groups& groups) {
  std::vector<const HaloPlan*> far_plans;
  std::vector<int> all;
  for (int rank = 0; rank < std::ssize(parts); ++rank) {
    far_plans.push_back(&parts[rank].far);
    all.push_back(rank);
  }
  const Vectors far = ghosts_by(far_plans, all);
  Vectors near(parts.size());
  for (const int rank : all) {
    const std::vector<int> members = members_of(groups, groups[rank]);
    std::vector<const HaloPlan*> plans;
    for (const int member : members) plans.push_back(&parts[member].near);
    const auto number = std::ranges::find(members, rank) - members.begin();
    near[rank] = ghosts_by(plans, members)[number];
  }
  Vectors ghosts(parts.size());
  for (const int rank : all)
    for (const std::int32_t source : parts[rank].sources)
      ghosts[rank].push_back(source < 0 ? near[rank].at(~source) : far[rank].at(source));
  return ghosts;
}

void expect_the_ghosts_of_the_whole(const std::vector<HaloPlan>& plans, const Groups& groups) {
  std::vector<SplitHalo> parts;
  std::vector<const HaloPlan*> whole;
  std::vector<int> all;
  for (int rank = 0; rank < std::ssize(plans); ++rank) {
    parts.push_back(split_halo(plans[rank], groups, rank));
    whole.push_back(&plans[rank]);
    all.push_back(rank);
    Array<std::int32_t> sources = parts.back().sources;
    std::ranges::sort(sources);
    EXPECT_EQ(std::ranges::adjacent_find(sources), sources.end()) << "a ghost is used twice";
    EXPECT_EQ(parts.back().near.ghosts + parts.back().far.ghosts, plans[rank].ghosts);
  }
  EXPECT_EQ(ghosts_by_parts(parts, groups), ghosts_by(whole, all));
}

TEST(SplitHalo, BringsEveryGhostOnceAndToItsPlace) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const int ranks = 2 + trial % 8;
    std::uniform_int_distribution<int> group(0, 1 + trial % 3);
    Groups groups(ranks);
    for (int& of_rank : groups) of_rank = group(random);
    expect_the_ghosts_of_the_whole(random_plans(ranks, trial % 2 ? 0.8 : 0.3, random), groups);
  }
}

// Ranks 0 and 2 share a node, and 1 and 3 another one, so that slices of both ways alternate.
TEST(SplitHalo, KeepsTheOrderOfGhostsThatComeByTurns) {
  HaloPlan plan;
  plan.sends = {{1, 0, 1}, {3, 1, 2}};
  plan.send_rows = {7, 8, 9};
  plan.receives = {{0, 0, 2}, {1, 2, 1}, {3, 3, 2}};
  plan.ghosts = 5;
  const SplitHalo parts = split_halo(plan, Groups{0, 1, 0, 1}, 2);
  EXPECT_EQ(parts.sources, (Array<std::int32_t>{~0, ~1, 0, 1, 2}));
  EXPECT_TRUE(parts.near.sends.empty());
  ASSERT_EQ(parts.near.receives.size(), 1u);
  EXPECT_EQ(parts.near.receives[0].rank, 0);
  EXPECT_EQ(parts.far.send_rows, (Array<std::int32_t>{7, 8, 9}));
  const SplitHalo of_last = split_halo(plan, Groups{0, 1, 0, 1}, 3);
  EXPECT_EQ(of_last.near.receives[0].rank, 0) << "rank 1 is the first of its group";
}

TEST(SplitHalo, LeavesAPartEmptyWhereNoNeighbourBelongsToIt) {
  std::mt19937 random(7);
  const HaloPlan plan = random_plans(3, 1, random).front();
  EXPECT_TRUE(split_halo(plan, Groups{0, 1, 2}, 0).near.empty());
  EXPECT_EQ(split_halo(plan, Groups{0, 1, 2}, 0).far.send_rows, plan.send_rows);
  EXPECT_TRUE(split_halo(plan, Groups{4, 4, 4}, 0).far.empty());
  EXPECT_EQ(split_halo(plan, Groups{4, 4, 4}, 0).near.send_rows, plan.send_rows);
  EXPECT_TRUE(split_halo({}, Groups{0, 1, 0}, 0).near.empty());
  EXPECT_TRUE(split_halo({}, Groups{0, 1, 0}, 0).far.empty());
}

}  // namespace
}  // namespace trireme
