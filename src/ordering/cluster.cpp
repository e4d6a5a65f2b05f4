// SPDX-License-Identifier: BSD-3-Clause
// The cluster order on the host, by loops of OpenMP over the vertices of a level.
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "ordering/cluster_rules.hpp"
#include "ordering/ordering.hpp"

namespace trireme {
namespace {

using namespace clustering;

// The edges of vertex u are row_ptr[u] .. row_ptr[u+1]-1. Some lead to u itself, and count nothing.
struct WeightedGraph {
  Index vertices = 0;
  std::span<const Index> row_ptr, target;
  std::span<const std::uint32_t> weight;  // empty: each is 1
  std::span<const std::uint32_t> volume;

  std::int64_t edges() const { return vertices == 0 ? 0 : row_ptr[vertices]; }
  Index length(Index u) const { return row_ptr[u + 1] - row_ptr[u]; }
};

struct OwnedGraph {
  Array<Index> row_ptr, target;
  Array<std::uint32_t> weight, volume;

  WeightedGraph view() const {
    return {static_cast<Index>(volume.size()), row_ptr, target, weight, volume};
  }
};

// The vertices of a level by clusters: cluster c has members[first[c]] .. members[first[c+1]-1],
// ascending.
struct Clusters {
  Array<Index> cluster;  // of each vertex
  Array<Index> first, members;

  Index count() const { return static_cast<Index>(first.size()) - 1; }
};

// Turns the counts in sums[0 .. n-1] into the places where each begins; sums[n] is the total.
void sum_exclusively(Array<Index>& sums) {
  Index total = 0;
  for (Index& sum : sums) total += std::exchange(sum, total);
}

class Matching {
 public:
  Matching(const WeightedGraph& graph, int level)
      : graph_(graph),
        level_(level),
        longest_(max_length(graph.edges(), graph.vertices)),
        partner_(graph.vertices, -1),
        picks_(graph.vertices, -1),
        scores_(graph.vertices),
        proposals_(graph.vertices, 0) {}

  // The leader of each vertex.
  Array<Index> leaders() {
    for (int round = 0; round < kRounds; ++round) find_partners(round);
    Array<Index> leaders(graph_.vertices);
#pragma omp parallel for schedule(dynamic, 1024)
    for (Index u = 0; u < graph_.vertices; ++u) {
      Index partner = partner_[u], one = u;
      if (partner < 0) {
        const Index joined = best(u, [&](Index v) { return partner_[v] >= 0; }).vertex;
        if (joined >= 0) one = joined, partner = partner_[joined];
      }
      leaders[u] = partner < 0 ? u : std::min(one, partner);
    }
    return leaders;
  }

 private:
  template <class Allows>
  Pick best(Index u, const Allows& allows) const {
    Pick best;
    if (graph_.length(u) > longest_) return best;
    for (Index k = graph_.row_ptr[u]; k < graph_.row_ptr[u + 1]; ++k) {
      const Index v = graph_.target[k];
      if (v == u || !allows(v)) continue;
      const std::uint32_t weight = graph_.weight.empty() ? 1 : graph_.weight[k];
      const Pick pick = pick_of(u, v, score_of(weight, graph_.volume[u], graph_.volume[v]));
      if (best.vertex < 0 || pick.better_than(best)) best = pick;
    }
    return best;
  }

  void find_partners(int round) {
#pragma omp parallel for schedule(dynamic, 1024)
    for (Index u = 0; u < graph_.vertices; ++u) {
      if (partner_[u] >= 0) continue;
      const Pick pick = best(u, [&](Index v) { return partner_[v] < 0; });
      picks_[u] = pick.vertex;
      scores_[u] = pick.score;
      proposals_[u] = 0;
    }
#pragma omp parallel for schedule(static)
    for (Index u = 0; u < graph_.vertices; ++u)
      if (may_propose(u, round)) raise(proposals_[picks_[u]], proposal_of(u, scores_[u]));
#pragma omp parallel for schedule(static)
    for (Index u = 0; u < graph_.vertices; ++u) {
      if (is_mutual(u)) {
        partner_[u] = picks_[u];
      } else if (may_propose(u, round) && proposals_[picks_[u]] == proposal_of(u, scores_[u])) {
        partner_[u] = picks_[u];
        partner_[picks_[u]] = u;
      }
    }
#pragma omp parallel for schedule(static)
    for (Index u = 0; u < graph_.vertices; ++u)
      if (partner_[u] >= 0) picks_[u] = -1;
  }

  bool is_mutual(Index u) const { return picks_[u] >= 0 && picks_[picks_[u]] == u; }
  bool may_propose(Index u, int round) const {
    return picks_[u] >= 0 && !is_mutual(u) && !is_mutual(picks_[u]) && proposes(u, level_, round) &&
           !proposes(picks_[u], level_, round);
  }
  static void raise(std::uint64_t& place, std::uint64_t value) {
    std::atomic_ref<std::uint64_t> shared(place);
    std::uint64_t seen = shared.load(std::memory_order_relaxed);
    while (value > seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }

  const WeightedGraph& graph_;
  int level_;
  Index longest_;
  Array<Index> partner_, picks_;
  Array<std::uint32_t> scores_;
  Array<std::uint64_t> proposals_;
};

Clusters clusters_of(const Array<Index>& leaders) {
  const auto vertices = static_cast<Index>(leaders.size());
  Array<Index> number(leaders.size() + 1, 0);
#pragma omp parallel for schedule(static)
  for (Index u = 0; u < vertices; ++u) number[u] = leaders[u] == u ? 1 : 0;
  sum_exclusively(number);
  Clusters result{Array<Index>(vertices), Array<Index>(number.back() + 1, 0),
                  Array<Index>(vertices)};
#pragma omp parallel for schedule(static)
  for (Index u = 0; u < vertices; ++u) {
    result.cluster[u] = number[leaders[u]];
    std::atomic_ref(result.first[result.cluster[u]]).fetch_add(1, std::memory_order_relaxed);
  }
  sum_exclusively(result.first);
  Array<Index> next = result.first;
#pragma omp parallel for schedule(static)
  for (Index u = 0; u < vertices; ++u) {
    const Index place =
        std::atomic_ref(next[result.cluster[u]]).fetch_add(1, std::memory_order_relaxed);
    result.members[place] = u;
  }
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index c = 0; c < result.count(); ++c)
    std::sort(result.members.begin() + result.first[c],
              result.members.begin() + result.first[c + 1]);
  return result;
}

// The graph of the clusters: parallel edges become one edge with the sum of their weights.
OwnedGraph coarse_graph(const WeightedGraph& graph, const Clusters& clusters) {
  struct Edge {
    Index target;
    std::uint32_t weight;
  };
  const Index longest = max_length(graph.edges(), graph.vertices);
  const Index count = clusters.count();
  OwnedGraph coarse;
  coarse.volume.resize(count);
  coarse.row_ptr.assign(count + 1, 0);
  Array<Index> begin(count + 1, 0);  // where the edges of each cluster fit before they are merged
#pragma omp parallel for schedule(static)
  for (Index c = 0; c < count; ++c) {
    std::uint32_t volume = 0;
    for (Index m = clusters.first[c]; m < clusters.first[c + 1]; ++m) {
      const Index u = clusters.members[m];
      volume += graph.volume[u];
      if (graph.length(u) <= longest) begin[c] += graph.length(u);
    }
    coarse.volume[c] = volume;
  }
  sum_exclusively(begin);
  Array<Edge> merged(begin.back());
#pragma omp parallel for schedule(dynamic, 256)
  for (Index c = 0; c < count; ++c) {
    Edge* const edges = merged.data() + begin[c];
    Edge* end = edges;
    for (Index m = clusters.first[c]; m < clusters.first[c + 1]; ++m) {
      const Index u = clusters.members[m];
      if (graph.length(u) > longest) continue;
      for (Index k = graph.row_ptr[u]; k < graph.row_ptr[u + 1]; ++k)
        if (const Index to = clusters.cluster[graph.target[k]]; to != c)
          *end++ = {to, graph.weight.empty() ? 1 : graph.weight[k]};
    }
    std::sort(edges, end, [](const Edge& a, const Edge& b) { return a.target < b.target; });
    Index last = -1;
    for (const Edge* edge = edges; edge != end; ++edge) {
      if (last >= 0 && edges[last].target == edge->target)
        edges[last].weight += edge->weight;
      else
        edges[++last] = *edge;
    }
    coarse.row_ptr[c] = last + 1;
  }
  sum_exclusively(coarse.row_ptr);
  coarse.target.resize(coarse.row_ptr.back());
  coarse.weight.resize(coarse.row_ptr.back());
#pragma omp parallel for schedule(static)
  for (Index c = 0; c < count; ++c)
    for (Index k = coarse.row_ptr[c]; k < coarse.row_ptr[c + 1]; ++k) {
      const Edge& edge = merged[begin[c] + k - coarse.row_ptr[c]];
      coarse.target[k] = edge.target;
      coarse.weight[k] = edge.weight;
    }
  return coarse;
}

// Replaces each cluster of `order` by its members.
Array<Index> members_in_order(const Array<Index>& order, const Clusters& clusters) {
  const auto count = static_cast<Index>(order.size());
  Array<Index> begin(order.size() + 1, 0);
#pragma omp parallel for schedule(static)
  for (Index k = 0; k < count; ++k)
    begin[k] = clusters.first[order[k] + 1] - clusters.first[order[k]];
  sum_exclusively(begin);
  Array<Index> result(clusters.members.size());
#pragma omp parallel for schedule(static)
  for (Index k = 0; k < count; ++k)
    std::copy(clusters.members.begin() + clusters.first[order[k]],
              clusters.members.begin() + clusters.first[order[k] + 1], result.begin() + begin[k]);
  return result;
}

}  // namespace

Array<Index> cluster_order(const CsrView<double>& a) {
  Array<std::uint32_t> volume(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    volume[i] = static_cast<std::uint32_t>(a.row_ptr[i + 1] - a.row_ptr[i]);
  WeightedGraph graph{static_cast<Index>(a.rows), a.row_ptr, a.col_idx, {}, volume};
  OwnedGraph owned;
  std::vector<Clusters> levels;
  std::int64_t work = 0;
  const std::int64_t most = kMaxWork * (graph.vertices + graph.edges());
  for (int level = 0; level < kMaxLevels && graph.vertices > kFewVertices; ++level) {
    work += graph.vertices + graph.edges();
    if (work > most) break;
    Clusters clusters = clusters_of(Matching(graph, level).leaders());
    if (clusters.count() == graph.vertices) break;
    OwnedGraph coarse = coarse_graph(graph, clusters);
    owned = std::move(coarse);
    graph = owned.view();
    levels.push_back(std::move(clusters));
  }
  Array<Index> order(graph.vertices);
  for (Index k = 0; k < graph.vertices; ++k) order[k] = k;
  for (auto clusters = levels.rbegin(); clusters != levels.rend(); ++clusters)
    order = members_in_order(order, *clusters);
  return order;
}

}  // namespace trireme
