// SPDX-License-Identifier: BSD-3-Clause
// Gathers which ranks share memory.
#include "parallel/nodes.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

struct Here {
  int first_of_node = 0;
  std::array<char, 64> host{};
};

int lowest_rank_of_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int lowest = rank_of(comm);
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_free(&node);
  return lowest;
}

}  // namespace

std::vector<Node> nodes_of(std::span<const RankPlace> places) {
  std::vector<Node> nodes;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    const auto same = [&](const Node& node) { return node.ranks.front() == place.first_of_node; };
    auto node = std::ranges::find_if(nodes, same);
    if (node == nodes.end()) node = nodes.insert(node, {.host = place.host, .ranks = {}});
    node->ranks.push_back(static_cast<int>(rank));
  }
  return nodes;
}

int number_on_node(std::span<const Node> nodes, int rank) {
  for (const Node& node : nodes) {
    const auto found = std::ranges::find(node.ranks, rank);
    if (found != node.ranks.end()) return static_cast<int>(found - node.ranks.begin());
  }
  throw Error(ExitCode::internal, "a rank runs on no node");
}

std::vector<Node> nodes_of_ranks(MPI_Comm comm) {
  Here mine{.first_of_node = lowest_rank_of_node(comm), .host = {}};
  const std::string host = host_name();
  std::copy_n(host.begin(), std::min(host.size(), mine.host.size() - 1), mine.host.begin());
  std::vector<Here> all(size_of(comm));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm);
  std::vector<RankPlace> places;
  for (const Here& here : all) places.push_back({here.first_of_node, here.host.data()});
  return nodes_of(places);
}

int rank_on_node(MPI_Comm comm) { return number_on_node(nodes_of_ranks(comm), rank_of(comm)); }

std::string host_name() {
  std::array<char, 64> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

}  // namespace trireme
