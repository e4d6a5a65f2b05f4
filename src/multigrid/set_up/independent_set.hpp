// SPDX-License-Identifier: BSD-3-Clause
// A maximal set of nodes of a graph with more than two edges between any two of them.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "multigrid/set_up/node_graph.hpp"

namespace trireme::multigrid {

// Returns by node whether it is in the set. Any node has at most two edges to a node of the set.
// The algorithm is that of Kelley and Rajamanickam ("Parallel, portable algorithms for distance-2
// maximal independent set and graph coarsening", IPDPS 2022), which follows Bell, Dalton and Olson
// (SIAM J. Sci. Comput. 34, 2012, section 5): nodes with the smallest random number within two
// edges enter the set, and the numbers are drawn anew in each round. The numbers are hashes of node
// and round, so that the set depends neither on the threads nor on the ranks. Collective.
Array<std::uint8_t> distance_two_set(const NodeGraph& graph);

}  // namespace trireme::multigrid
