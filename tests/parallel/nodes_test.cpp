// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share a node, and the GPU of each rank there, for made-up lists of hosts.
#include "parallel/nodes.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

using Numbers = std::vector<int>;

// The number of each rank on its node.
Numbers numbers(const std::vector<RankPlace>& places) {
  const std::vector<Node> nodes = nodes_of(places);
  Numbers all;
  for (int rank = 0; rank < static_cast<int>(places.size()); ++rank)
    all.push_back(number_on_node(nodes, rank));
  return all;
}

TEST(Nodes, OfRanksThatFillOneNodeAfterTheOther) {
  const std::vector<RankPlace> places = {{0, "a"}, {0, "a"}, {2, "b"}, {2, "b"}, {2, "b"}};
  const std::vector<Node> nodes = nodes_of(places);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].host, "a");
  EXPECT_EQ(nodes[0].ranks, (Numbers{0, 1}));
  EXPECT_EQ(nodes[1].host, "b");
  EXPECT_EQ(nodes[1].ranks, (Numbers{2, 3, 4}));
  EXPECT_EQ(numbers(places), (Numbers{0, 1, 0, 1, 2}));
}

TEST(Nodes, OfRanksThatAreDealtOutInTurn) {
  const std::vector<RankPlace> places = {{0, "a"}, {1, "b"}, {2, "c"},
                                         {0, "a"}, {1, "b"}, {0, "a"}};
  EXPECT_EQ(nodes_of(places)[0].ranks, (Numbers{0, 3, 5}));
  EXPECT_EQ(nodes_of(places)[1].ranks, (Numbers{1, 4}));
  EXPECT_EQ(nodes_of(places)[2].ranks, (Numbers{2}));
  EXPECT_EQ(numbers(places), (Numbers{0, 0, 0, 1, 1, 2}));
}

TEST(Nodes, WithOneNameAreTwoWhereTheirRanksShareNoMemory) {
  const std::vector<RankPlace> places = {{0, "localhost"}, {0, "localhost"}, {2, "localhost"}};
  EXPECT_EQ(nodes_of(places).size(), 2u);
  EXPECT_EQ(numbers(places), (Numbers{0, 1, 0}));
}

}  // namespace
}  // namespace trireme
