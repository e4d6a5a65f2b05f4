// SPDX-License-Identifier: BSD-3-Clause
// The exchanges between GPUs that are tried, and their order.
#include "distributed/exchange_choice.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace trireme {
namespace {

using enum ExchangeWay;
using Ways = std::vector<ExchangeWay>;
using Groups = std::vector<int>;

constexpr GpuNeighbourhood kAlike{.ranks = 4};
constexpr GpuNeighbourhood kDifferent{.ranks = 2, .lowest_compute = 80, .highest_compute = 90};

ExitCode refusal(const GpuNeighbourhood& gpus, std::string_view asked) {
  try {
    exchange_ways(gpus, asked);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::converged;
}

TEST(ExchangeChoice, TriesPeersFirstOnOneNode) {
  EXPECT_EQ(exchange_ways(kAlike, ""), (Ways{peer, nccl, mpi}));
  EXPECT_EQ(exchange_ways({.ranks = 4, .one_node = false}, ""), (Ways{nccl, mpi}));
  EXPECT_EQ(exchange_ways({.ranks = 17}, ""), (Ways{nccl, mpi}));
  EXPECT_EQ(exchange_ways({.ranks = 4, .own_gpus = false}, ""), (Ways{mpi}));
}

TEST(ExchangeChoice, LeavesPeersOutBetweenArchitecturesAndSaysWhy) {
  EXPECT_EQ(exchange_ways(kDifferent, ""), (Ways{nccl, mpi}));
  const std::string why = why_no_peers(kDifferent);
  EXPECT_NE(why.find("compute capability 8.0 to 9.0"), std::string::npos) << why;
  EXPECT_EQ(why_no_peers(kAlike), "");
  EXPECT_EQ(refusal(kDifferent, "peer"), ExitCode::resource);
  EXPECT_EQ(exchange_ways(kDifferent, "nccl"), Ways{nccl});
}

TEST(ExchangeChoice, TakesWhatIsAskedForOrRefusesIt) {
  EXPECT_EQ(exchange_ways(kAlike, "peer"), Ways{peer});
  EXPECT_EQ(exchange_ways(kAlike, "nccl"), Ways{nccl});
  EXPECT_EQ(exchange_ways({.ranks = 4, .own_gpus = false}, "mpi"), Ways{mpi});
  EXPECT_EQ(refusal({.ranks = 4, .own_gpus = false}, "peer"), ExitCode::resource);
  EXPECT_EQ(refusal({.ranks = 4, .own_gpus = false}, "nccl"), ExitCode::resource);
  EXPECT_EQ(refusal(kAlike, "smoke"), ExitCode::usage);
}

// "0a 0b 1a": the nodes and the GPUs of three ranks. A capital letter stands for another
// architecture.
std::vector<GpuPlace> places(const std::string& words) {
  std::vector<GpuPlace> ranks;
  for (std::size_t at = 0; at < words.size(); at += 3) {
    const char gpu = words[at + 1];
    ranks.push_back({words[at] - '0', {words[at], gpu}, gpu < 'a' ? 80 : 90});
  }
  return ranks;
}

Ways best_ways(const std::string& words) {
  return exchange_ways(neighbourhood_of(places(words)), "");
}

TEST(PeerGroups, AreTheRanksOfNodes) {
  EXPECT_EQ(peer_groups(places("0a 0b 1a 1b")), (Groups{0, 0, 2, 2}));
  EXPECT_EQ(peer_groups(places("0a 1a 0b 2a 1b 0c")), (Groups{0, 1, 0, 3, 1, 0}));
}

TEST(PeerGroups, LeaveRanksAloneThatCannotUsePeerMemory) {
  EXPECT_EQ(peer_groups(places("0a 0a 1a 1b")), (Groups{0, 1, 2, 2})) << "a shared GPU";
  EXPECT_EQ(peer_groups(places("0a 0B 1a 1b")), (Groups{0, 1, 2, 2})) << "two architectures";
  EXPECT_EQ(peer_groups(places("0A 0B 1a 1b")), (Groups{0, 0, 2, 2})) << "one per node";
  std::string many;
  for (int gpu = 0; gpu < 17; ++gpu) many += std::string("0") + static_cast<char>('a' + gpu) + " ";
  EXPECT_EQ(peer_groups(places(many))[16], 16) << "more GPUs than peer memory serves";
  EXPECT_EQ(peer_groups(places(many.substr(0, 48)))[15], 0);
}

TEST(PeerGroups, FollowNodesThatAreCut) {
  std::vector<GpuPlace> ranks = places("0a 0b 0c 0d 0e");
  cut_nodes(ranks, 2);
  EXPECT_EQ(peer_groups(ranks), (Groups{0, 0, 2, 2, 4}));
  ranks = places("0a 0b 0c 1a 1b");  // no part has ranks of both nodes
  cut_nodes(ranks, 2);
  EXPECT_EQ(peer_groups(ranks), (Groups{0, 0, 2, 3, 4}));
  ranks = places("0a 0b 1a");
  cut_nodes(ranks, 8);
  EXPECT_EQ(peer_groups(ranks), (Groups{0, 0, 2}));
}

TEST(ExchangeChoice, MixesTheWaysOnSeveralNodes) {
  EXPECT_EQ(best_ways("0a 0b 1a 1b"), (Ways{peer_nccl, nccl, peer_mpi, mpi}));
  EXPECT_EQ(best_ways("0a 0b 0c 1a"), (Ways{peer_nccl, nccl, peer_mpi, mpi}))
      << "one GPU on a node";
  EXPECT_EQ(best_ways("0a 0b 1A 1B"), (Ways{peer_nccl, nccl, peer_mpi, mpi}))
      << "each node has one architecture";
  EXPECT_EQ(best_ways("0a 0a 1a 1b"), (Ways{peer_mpi, mpi})) << "NCCL refuses a shared GPU";
}

TEST(ExchangeChoice, DoesNotMixWherePeerMemoryServesAllOrNone) {
  EXPECT_EQ(best_ways("0a 0b 0c"), (Ways{peer, nccl, mpi}));
  EXPECT_EQ(best_ways("0a 1a 2a"), (Ways{nccl, mpi}));
  EXPECT_EQ(best_ways("0a 0B 1a"), (Ways{nccl, mpi}));
  EXPECT_EQ(best_ways("0a 0a 1a"), (Ways{mpi}));
}

TEST(ExchangeChoice, MixesWhenAskedToOrRefuses) {
  const GpuNeighbourhood several = neighbourhood_of(places("0a 0b 1a"));
  EXPECT_EQ(exchange_ways(several, "mixed"), (Ways{peer_nccl, peer_mpi}));
  EXPECT_EQ(exchange_ways(several, "peer+nccl"), Ways{peer_nccl});
  EXPECT_EQ(exchange_ways(several, "peer+mpi"), Ways{peer_mpi});
  const GpuNeighbourhood shared = neighbourhood_of(places("0a 0b 1a 1a"));
  EXPECT_EQ(exchange_ways(shared, "mixed"), Ways{peer_mpi});
  EXPECT_EQ(exchange_ways(shared, "peer+mpi"), Ways{peer_mpi});
  EXPECT_EQ(refusal(shared, "peer+nccl"), ExitCode::resource);
  for (const char* word : {"mixed", "peer+nccl", "peer+mpi"}) {
    EXPECT_EQ(refusal(neighbourhood_of(places("0a 0b")), word), ExitCode::resource) << "one node";
    EXPECT_EQ(refusal(neighbourhood_of(places("0a 1a")), word), ExitCode::resource) << "no peers";
  }
}

TEST(ExchangeChoice, ANameAsksForItsExchange) {
  const GpuNeighbourhood several = neighbourhood_of(places("0a 0b 1a"));
  for (const ExchangeWay way : {peer, peer_nccl, peer_mpi, nccl, mpi})
    EXPECT_EQ(exchange_ways(several, name_of(way)), Ways{way});
}

}  // namespace
}  // namespace trireme
