// SPDX-License-Identifier: BSD-3-Clause
// The rules of the cluster order, which the host and the GPU follow alike. All numbers are
// integers, so that both find the same order.
//
// Clusters are found level by level, as in the coarsening by heavy edges of Karypis and Kumar ("A
// Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs", SIAM J. Sci. Comput.
// 20, 1998, section 3.1):
//
//   vertices of level 0 = rows       edges of level 0 = stored entries beside the diagonal
//   vertices of level l + 1 = clusters of level l, numbered by their leaders
//   weight of an edge = the number of stored entries from one cluster to the other
//
//  1. kRounds times, each vertex without a partner picks the best other one among its neighbours
//     (Pick). Two vertices that pick each other become partners. A proposer also becomes the
//     partner of its pick, if the pick is no proposer, has no mutual pick and gets no better
//     proposal.
//  2. A vertex that is left joins the partners among which its best neighbour is.
//  3. The leader of a cluster is the smaller one of the two partners, or the vertex that is alone.
//
// Then the clusters of the last level stand in the order of their numbers, and each cluster is
// replaced by its members, also in the order of their numbers, level by level down to the rows.
//
// A vertex with more than max_length() entries picks nobody, and its entries are not handed on to
// the next level: one row must not make a level as expensive as all of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/split_mix.hpp"

namespace trireme::clustering {

using Index = std::int32_t;

inline constexpr int kRounds = 3;
// Clusters are found while there are more vertices than this.
inline constexpr Index kFewVertices = 256;
inline constexpr int kMaxLevels = 40;
// The maximum of the vertices and edges of all levels, as a multiple of those of level 0.
inline constexpr std::int64_t kMaxWork = 8;

constexpr Index max_length(std::int64_t edges, std::int64_t vertices) {
  return static_cast<Index>(std::min<std::int64_t>(
      std::max<std::int64_t>(256, vertices == 0 ? 0 : 8 * edges / vertices), INT32_MAX));
}

// A neighbour that a vertex may pick. `volume` is the number of stored entries of all rows of a
// vertex: a heavy edge between small clusters counts more, so that clusters grow evenly and hubs do
// not swallow the rest.
struct Pick {
  std::uint32_t score = 0;      // weight per volume
  std::uint32_t closeness = 0;  // of the two numbers
  std::uint32_t tie = 0;
  Index vertex = -1;  // none

  constexpr bool better_than(const Pick& other) const {
    if (score != other.score) return score > other.score;
    if (closeness != other.closeness) return closeness > other.closeness;
    if (tie != other.tie) return tie > other.tie;
    return vertex > other.vertex;
  }
};

constexpr std::uint32_t score_of(std::uint32_t weight, std::uint32_t volume, std::uint32_t other) {
  const std::uint64_t both = std::uint64_t{volume} + other;
  const std::uint64_t score = (std::uint64_t{weight} << 32) / both;
  return score > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(score);
}

// The edge from u to v. The score, the closeness and the tie are those of the edge from v to u, if
// that has the same weight.
constexpr Pick pick_of(Index u, Index v, std::uint32_t score) {
  const auto low = static_cast<std::uint32_t>(u < v ? u : v);
  const auto high = static_cast<std::uint32_t>(u < v ? v : u);
  return {score, ~(high - low), static_cast<std::uint32_t>(mix_bits(low) >> 32), v};
}

// Whether a vertex proposes in a round, or waits for proposals.
constexpr bool proposes(Index u, int level, int round) {
  return (mix_bits(static_cast<std::uint64_t>(u) << 8 |
                   static_cast<std::uint64_t>(level * kRounds + round)) &
          1) != 0;
}

// The largest proposal wins. No two vertices have the same one, and none is 0.
constexpr std::uint64_t proposal_of(Index u, std::uint32_t score) {
  const std::uint32_t scattered = static_cast<std::uint32_t>(u) * 0x9e3779b1u;
  return std::uint64_t{score} << 32 | scattered;
}

}  // namespace trireme::clustering
