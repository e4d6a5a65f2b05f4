// SPDX-License-Identifier: BSD-3-Clause
// The exchanges between GPUs that are tried, and their order.
#include "distributed/exchange_choice.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace trireme {
namespace {

using enum ExchangeWay;
using Ways = std::vector<ExchangeWay>;

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

}  // namespace
}  // namespace trireme
