// SPDX-License-Identifier: BSD-3-Clause
// All ranks take a GPU or none does, and who lacks one is named.
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

TEST(ChooseDevice, TakesTheCpuUnlessEveryRankHasAGpu) {
  EXPECT_EQ(choose_device(false), Device::cpu);
}

}  // namespace
}  // namespace trireme
