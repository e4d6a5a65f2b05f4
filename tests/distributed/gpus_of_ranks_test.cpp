// SPDX-License-Identifier: BSD-3-Clause
// All ranks take a GPU or none does; who lacks one is named, and so is who shares one.
#include "distributed/gpus_of_ranks.hpp"

#include <gtest/gtest.h>

#include "planning/choose.hpp"

namespace trireme {
namespace {

GpusOfRanks of(const std::vector<RankGpu>& ranks) { return summarise_gpus(ranks); }

TEST(GpusOfRanks, AreEverywhereWhereNoRankLacksOne) {
  const GpusOfRanks gpus = of({{"n1", true}, {"n1", true}, {"n2", true}});
  EXPECT_TRUE(gpus.everywhere);
  EXPECT_EQ(gpus.lacking, "");
}

TEST(GpusOfRanks, OfNoRankNameNobody) {
  const GpusOfRanks gpus = of({{"n1", false}, {"n2", false}});
  EXPECT_FALSE(gpus.everywhere);
  EXPECT_EQ(gpus.lacking, "");
}

TEST(GpusOfRanks, NameTheNodesThatLackOne) {
  GpusOfRanks gpus = of({{"n1", true}, {"n1", true}, {"n2", false}, {"n2", false}, {"n3", true}});
  EXPECT_FALSE(gpus.everywhere);
  EXPECT_EQ(gpus.lacking, "n2 (ranks 2 to 3)");
  gpus = of({{"n1", false}, {"n1", true}, {"n1", false}});
  EXPECT_EQ(gpus.lacking, "n1 (rank 0), n1 (rank 2)");
  gpus = of({{"a", true}, {"b", false}, {"c", false}, {"d", false}, {"e", false}, {"f", false}});
  EXPECT_EQ(gpus.lacking, "b (rank 1), c (rank 2), d (rank 3) and 2 more");
}

TEST(GpusOfRanks, NameANodeWithoutAnyBesideOneWithFour) {
  const GpusOfRanks gpus = of({{"cpus", false},
                               {"cpus", false},
                               {"gpus", true},
                               {"gpus", true},
                               {"gpus", true},
                               {"gpus", true}});
  EXPECT_FALSE(gpus.everywhere);
  EXPECT_EQ(gpus.lacking, "cpus (ranks 0 to 1)");
}

TEST(SharedGpus, AreNotNamedWhereEachRankHasItsOwn) {
  const std::vector<Node> nodes{{"n1", {0, 1, 2, 3}}, {"n2", {4, 5}}};
  EXPECT_EQ(gpus_that_are_shared(nodes, std::vector<std::string>{"a", "b", "c", "d", "e", "f"}),
            "");
}

TEST(SharedGpus, NameTheNodeWithTooFew) {
  // Three ranks per node, four GPUs on the first and two on the second node.
  const std::vector<Node> nodes{{"n1", {0, 2, 4}}, {"n2", {1, 3, 5}}};
  EXPECT_EQ(
      gpus_that_are_shared(nodes, std::vector<std::string>{"a", "x", "b", "y", "c", "x"}),
      "on n2 3 ranks share 2 GPUs: ranks of one GPU take turns, and exchange through MPI; start "
      "as many ranks on each node as it has GPUs");
}

// Containers on one machine may give all nodes one name, and two nodes never share a GPU.
TEST(SharedGpus, AreThoseOfOneNode) {
  const std::vector<Node> nodes{{"box", {0}}, {"box", {1, 2}}};
  EXPECT_EQ(gpus_that_are_shared(nodes, std::vector<std::string>{"a", "b", "c"}), "");
  EXPECT_TRUE(gpus_that_are_shared(nodes, std::vector<std::string>{"a", "b", "b"})
                  .starts_with("on box 2 ranks share one GPU: "));
}

TEST(ChooseDevice, TakesTheCpuUnlessEveryRankHasAGpu) {
  EXPECT_EQ(choose_device(false), Device::cpu);
}

}  // namespace
}  // namespace trireme
