// SPDX-License-Identifier: BSD-3-Clause
// Rounds of proposals over the vertices that have no partner yet.
#include "partitioning/matching.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/split_mix.hpp"
#include "multigrid/set_up/host_place.hpp"

namespace trireme::partitioning {
namespace {

using multigrid::HostPlace;

// Later rounds find few pairs.
constexpr int kRounds = 8;
// Of the vertices; a round that pairs fewer is the last one.
constexpr double kFewPairs = 0.01;

constexpr std::int32_t kNone = -1, kTaken = -2;

std::uint64_t hash_of(std::int32_t one, std::int32_t other) {
  const auto low = static_cast<std::uint64_t>(std::min(one, other));
  const auto high = static_cast<std::uint64_t>(std::max(one, other));
  return mix_bits((low << 32 | high) + kSplitMixStep);
}

// The preferred neighbour of `vertex` among those that are free, or kNone.
std::int32_t preferred(const WeightedGraph& g, std::int64_t max_weight, std::int32_t vertex,
                       const Array<std::int32_t>& proposal) {
  const multigrid::NodeGraph& graph = g.graph;
  const std::int32_t own = g.global(vertex);
  std::int32_t best = kNone;
  std::pair<std::int32_t, std::uint64_t> best_key{};
  for (std::int32_t k = graph.row_ptr[vertex]; k < graph.row_ptr[vertex + 1]; ++k) {
    const std::int32_t other = graph.neighbour[k];
    if (proposal[other] == kTaken) continue;
    if (std::int64_t{g.weights[vertex]} + g.weights[other] > max_weight) continue;
    const std::int32_t weight = g.edge_weight(k);
    if (best != kNone && weight < best_key.first) continue;
    const std::pair key{weight, hash_of(own, g.global(other))};
    if (best != kNone && key <= best_key) continue;
    best = other;
    best_key = key;
  }
  return best;
}

}  // namespace

Array<std::int32_t> heavy_edge_matching(const WeightedGraph& g, std::int64_t max_weight) {
  const std::int32_t vertices = g.vertices();
  const multigrid::NodeExchange exchange = g.graph.exchange();
  const double all = exchange.sum(vertices);
  Array<std::int32_t> mate(vertices), free(vertices), choice(vertices);
  HostPlace::for_each(vertices,
                      [&](std::int64_t v) { mate[v] = free[v] = static_cast<std::int32_t>(v); });
  // By vertex and ghost: the global number of the vertex that it prefers, kNone or kTaken.
  Array<std::int32_t> proposal(g.weights.size());
  std::ranges::fill(proposal, kNone);
  for (int round = 0; round < kRounds; ++round) {
    HostPlace::for_each(std::ssize(free), [&](std::int64_t k) {
      choice[free[k]] = preferred(g, max_weight, free[k], proposal);
    });
    HostPlace::for_each(std::ssize(free), [&](std::int64_t k) {
      const std::int32_t other = choice[free[k]];
      proposal[free[k]] = other == kNone ? kNone : g.global(other);
    });
    exchange.fetch(std::span(proposal));
    HostPlace::for_each(std::ssize(free), [&](std::int64_t k) {
      const std::int32_t vertex = free[k], other = choice[vertex];
      if (other != kNone && proposal[other] == g.global(vertex)) mate[vertex] = other;
    });
    HostPlace::for_each(std::ssize(free), [&](std::int64_t k) {
      if (mate[free[k]] != free[k]) proposal[free[k]] = kTaken;
    });
    exchange.fetch(std::span(proposal));
    const auto before = static_cast<double>(free.size());
    std::erase_if(free, [&](std::int32_t vertex) {
      return mate[vertex] != vertex || choice[vertex] == kNone;
    });
    if (exchange.sum(before - static_cast<double>(free.size())) <= kFewPairs * all) break;
  }
  return mate;
}

}  // namespace trireme::partitioning
