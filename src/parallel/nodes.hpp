// SPDX-License-Identifier: BSD-3-Clause
// The machines on which the ranks of a job run.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

namespace trireme {

struct Node {
  std::string host;        // nodes may share a name, as containers do
  std::vector<int> ranks;  // ascending
};

// Where a rank runs.
struct RankPlace {
  int first_of_node = 0;  // the lowest rank with which it shares memory
  std::string host;
};

// places[r] is that of rank r. The nodes are in the order of their lowest ranks.
std::vector<Node> nodes_of(std::span<const RankPlace> places);

// The number of `rank` among the ranks of its node, from 0.
int number_on_node(std::span<const Node> nodes, int rank);

// The same on every rank. Collective.
std::vector<Node> nodes_of_ranks(MPI_Comm comm);

// The number of this rank among the ranks of its node, from 0: that of its GPU. Collective.
int rank_on_node(MPI_Comm comm);

// The name of this machine, at most 63 characters of it; "?" where the system does not say it.
std::string host_name();

}  // namespace trireme
