// SPDX-License-Identifier: BSD-3-Clause
// The cluster order on a GPU; cluster_rules.hpp has the rules. Eight lanes of a warp read the edges
// of one vertex. The edges of the next level are those of this one, renumbered, sorted and with
// equal edges added up. All numbers are integers, so that atomic sums and maxima are the same in
// every run.
#include <cooperative_groups.h>

#include <bit>
#include <utility>
#include <vector>

#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/select.hpp"
#include "device/sort.hpp"
#include "ordering/cluster_rules.hpp"
#include "ordering/device_ordering.hpp"

namespace trireme {
namespace {

using namespace clustering;
using Key = std::uint64_t;
using Proposal = unsigned long long;

constexpr int kThreads = 256;
constexpr int kLanes = 8;  // per vertex
using Tile = cooperative_groups::thread_block_tile<kLanes>;

// The edges of vertex u are row_ptr[u] .. row_ptr[u+1]-1. Some lead to u itself, and count nothing.
struct Graph {
  Index vertices = 0;
  Index edges = 0;
  const Index* row_ptr = nullptr;
  const Index* target = nullptr;
  const std::uint32_t* weight = nullptr;  // null: each is 1
  const std::uint32_t* volume = nullptr;

  Index longest() const { return max_length(edges, vertices); }
};

struct Matching {
  Index* partner;
  Index* pick;
  std::uint32_t* score;
  Proposal* proposal;
};

unsigned blocks_for(std::int64_t items, int items_per_block = kThreads) {
  return static_cast<unsigned>((items + items_per_block - 1) / items_per_block);
}
unsigned blocks_of_tiles(Index vertices) { return blocks_for(vertices, kThreads / kLanes); }

__device__ __forceinline__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}
__device__ __forceinline__ Tile this_tile() {
  return cooperative_groups::tiled_partition<kLanes>(cooperative_groups::this_thread_block());
}
__device__ __forceinline__ std::int64_t tile_number() { return thread_number() / kLanes; }

// The best neighbour of u among those that have a partner, or among those that have none.
__device__ Pick best_neighbour(const Graph& graph, Index longest, const Index* partner,
                               bool with_partner, Index u, const Tile& tile) {
  Pick best;
  const Index begin = graph.row_ptr[u], end = graph.row_ptr[u + 1];
  if (end - begin > longest) return best;
  for (Index k = begin + static_cast<Index>(tile.thread_rank()); k < end; k += kLanes) {
    const Index v = graph.target[k];
    if (v == u || (partner[v] >= 0) != with_partner) continue;
    const std::uint32_t weight = graph.weight ? graph.weight[k] : 1;
    const Pick pick = pick_of(u, v, score_of(weight, graph.volume[u], graph.volume[v]));
    if (best.vertex < 0 || pick.better_than(best)) best = pick;
  }
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    const Pick other{tile.shfl_xor(best.score, distance), tile.shfl_xor(best.closeness, distance),
                     tile.shfl_xor(best.tie, distance), tile.shfl_xor(best.vertex, distance)};
    if (other.vertex >= 0 && (best.vertex < 0 || other.better_than(best))) best = other;
  }
  return best;
}

__global__ void find_volumes(Index vertices, const Index* __restrict__ row_ptr,
                             std::uint32_t* __restrict__ volume) {
  const std::int64_t u = thread_number();
  if (u < vertices) volume[u] = static_cast<std::uint32_t>(row_ptr[u + 1] - row_ptr[u]);
}

__global__ void __launch_bounds__(kThreads)
    find_picks(const Graph graph, Index longest, const Matching m) {
  const std::int64_t number = tile_number();
  if (number >= graph.vertices) return;
  const auto u = static_cast<Index>(number);
  const Tile tile = this_tile();
  Pick pick;
  if (m.partner[u] < 0) pick = best_neighbour(graph, longest, m.partner, false, u, tile);
  if (tile.thread_rank() > 0) return;
  m.pick[u] = pick.vertex;
  m.score[u] = pick.score;
  m.proposal[u] = 0;
}

__device__ __forceinline__ bool is_mutual(const Matching& m, Index u) {
  return m.pick[u] >= 0 && m.pick[m.pick[u]] == u;
}
__device__ __forceinline__ bool may_propose(const Matching& m, Index u, int level, int round) {
  const Index v = m.pick[u];
  return v >= 0 && !is_mutual(m, u) && !is_mutual(m, v) && proposes(u, level, round) &&
         !proposes(v, level, round);
}

__global__ void propose(Index vertices, int level, int round, const Matching m) {
  const std::int64_t number = thread_number();
  if (number >= vertices) return;
  const auto u = static_cast<Index>(number);
  if (may_propose(m, u, level, round))
    atomicMax(&m.proposal[m.pick[u]], Proposal{proposal_of(u, m.score[u])});
}

__global__ void settle(Index vertices, int level, int round, const Matching m) {
  const std::int64_t number = thread_number();
  if (number >= vertices) return;
  const auto u = static_cast<Index>(number);
  const Index v = m.pick[u];
  if (is_mutual(m, u)) {
    m.partner[u] = v;
  } else if (may_propose(m, u, level, round) &&
             m.proposal[v] == Proposal{proposal_of(u, m.score[u])}) {
    m.partner[u] = v;
    m.partner[v] = u;
  }
}

__global__ void __launch_bounds__(kThreads)
    find_leaders(const Graph graph, Index longest, const Index* __restrict__ partner,
                 Index* __restrict__ leader) {
  const std::int64_t number = tile_number();
  if (number >= graph.vertices) return;
  const auto u = static_cast<Index>(number);
  const Tile tile = this_tile();
  Index one = u;
  if (partner[u] < 0) {
    const Pick joined = best_neighbour(graph, longest, partner, true, u, tile);
    if (joined.vertex >= 0) one = joined.vertex;
  }
  if (tile.thread_rank() > 0) return;
  leader[u] = partner[one] < 0 ? u : min(one, partner[one]);
}

// number[vertices] is 0, so that the sums end with the total.
__global__ void mark_leaders(Index vertices, const Index* __restrict__ leader,
                             Index* __restrict__ number) {
  const std::int64_t u = thread_number();
  if (u <= vertices) number[u] = u < vertices && leader[u] == u ? 1 : 0;
}

__global__ void number_clusters(Index vertices, const Index* __restrict__ leader,
                                const Index* __restrict__ number,
                                const std::uint32_t* __restrict__ volume,
                                Index* __restrict__ cluster,
                                std::uint32_t* __restrict__ cluster_volume) {
  const std::int64_t u = thread_number();
  if (u >= vertices) return;
  cluster[u] = number[leader[u]];
  atomicAdd(&cluster_volume[cluster[u]], volume[u]);
}

__global__ void fill_keys(std::int64_t count, Key* __restrict__ keys) {
  const std::int64_t k = thread_number();
  if (k < count) keys[k] = ~Key{0};
}

// Writes the keys of those edges that lead to another cluster; the other keys stay behind them all.
__global__ void __launch_bounds__(kThreads)
    number_edges(const Graph graph, Index longest, int bits, const Index* __restrict__ cluster,
                 Key* __restrict__ keys, std::uint32_t* __restrict__ weights) {
  const std::int64_t u = tile_number();
  if (u >= graph.vertices) return;
  const Index begin = graph.row_ptr[u], end = graph.row_ptr[u + 1], from = cluster[u];
  if (end - begin > longest) return;
  for (Index k = begin + static_cast<Index>(threadIdx.x % kLanes); k < end; k += kLanes) {
    const Index to = cluster[graph.target[k]];
    if (to == from) continue;
    keys[k] = static_cast<Key>(from) << bits | static_cast<Key>(to);
    weights[k] = graph.weight ? graph.weight[k] : 1;
  }
}

// row_ptr[c] = the number of keys before those of cluster c, for c up to `clusters`.
__global__ void find_row_ptr(Index clusters, int bits, const Key* __restrict__ keys,
                             const Index* __restrict__ count, Index* __restrict__ row_ptr) {
  const std::int64_t c = thread_number();
  if (c > clusters) return;
  const Key first = static_cast<Key>(c) << bits;
  Index low = 0, high = *count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (keys[middle] < first)
      low = middle + 1;
    else
      high = middle;
  }
  row_ptr[c] = low;
}

__global__ void take_targets(Index edges, Key mask, const Key* __restrict__ keys,
                             Index* __restrict__ target) {
  const std::int64_t k = thread_number();
  if (k < edges) target[k] = static_cast<Index>(keys[k] & mask);
}

__global__ void count_up(Index count, Index* __restrict__ numbers) {
  const std::int64_t k = thread_number();
  if (k < count) numbers[k] = static_cast<Index>(k);
}

__global__ void invert(Index count, const Index* __restrict__ order, Index* __restrict__ position) {
  const std::int64_t k = thread_number();
  if (k < count) position[order[k]] = static_cast<Index>(k);
}

__global__ void gather_positions(Index vertices, const Index* __restrict__ cluster,
                                 const Index* __restrict__ position,
                                 std::uint32_t* __restrict__ keys) {
  const std::int64_t u = thread_number();
  if (u < vertices) keys[u] = static_cast<std::uint32_t>(position[cluster[u]]);
}

int bits_of(std::int64_t count) {
  return std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))), 1);
}

struct OwnedGraph {
  ScratchBuffer<Index> row_ptr, target;
  ScratchBuffer<std::uint32_t> weight, volume;
};

class DeviceClusters {
 public:
  explicit DeviceClusters(StreamRef stream) : stream_(stream) {}

  DeviceBuffer<Index> order(const DeviceCsr<double>& a) {
    owned_.volume = ScratchBuffer<std::uint32_t>(a.rows, stream_);
    graph_ = {static_cast<Index>(a.rows),
              static_cast<Index>(a.nnz),
              a.row_ptr.data(),
              a.col_idx.data(),
              nullptr,
              owned_.volume.data()};
    if (a.rows > 0)
      launch(a.rows, find_volumes, graph_.vertices, graph_.row_ptr, owned_.volume.data());
    const std::int64_t most = kMaxWork * (std::int64_t{graph_.vertices} + graph_.edges);
    std::int64_t work = 0;
    for (int level = 0; level < kMaxLevels && graph_.vertices > kFewVertices; ++level) {
      work += std::int64_t{graph_.vertices} + graph_.edges;
      if (work > most || !coarsen(level)) break;
    }
    DeviceBuffer<Index> order(graph_.vertices, stream_);
    if (graph_.vertices > 0) launch(graph_.vertices, count_up, graph_.vertices, order.data());
    for (auto cluster = levels_.rbegin(); cluster != levels_.rend(); ++cluster)
      order = members_in_order(order, *cluster);
    return order;
  }

 private:
  template <class... Parameters, class... Arguments>
  void launch(std::int64_t threads, void (*kernel)(Parameters...), Arguments&&... arguments) const {
    kernel<<<blocks_for(threads), kThreads, 0, stream_>>>(std::forward<Arguments>(arguments)...);
    check_launch();
  }
  template <class... Parameters, class... Arguments>
  void launch_tiles(void (*kernel)(Parameters...), Arguments&&... arguments) const {
    kernel<<<blocks_of_tiles(graph_.vertices), kThreads, 0, stream_>>>(
        std::forward<Arguments>(arguments)...);
    check_launch();
  }

  // Replaces the graph by that of its clusters; false where no two vertices are in one cluster.
  bool coarsen(int level) {
    const Index vertices = graph_.vertices;
    const ScratchBuffer<Index> leader = leaders(level);
    ScratchBuffer<Index> number(vertices + std::int64_t{1}, stream_);
    launch(vertices + std::int64_t{1}, mark_leaders, vertices, leader.data(), number.data());
    exclusive_sum_in_place(number.span(), stream_);
    const Index clusters = read_back(number.data() + vertices, stream_);
    if (clusters == vertices) return false;
    ScratchBuffer<Index> cluster(vertices, stream_);
    OwnedGraph coarse;
    coarse.volume = ScratchBuffer<std::uint32_t>(clusters, stream_);
    fill_zero(coarse.volume.span(), stream_);
    launch(vertices, number_clusters, vertices, leader.data(), number.data(), graph_.volume,
           cluster.data(), coarse.volume.data());
    merge_edges(cluster, clusters, coarse);
    owned_ = std::move(coarse);
    levels_.push_back(std::move(cluster));
    return true;
  }

  ScratchBuffer<Index> leaders(int level) const {
    const Index vertices = graph_.vertices, longest = graph_.longest();
    ScratchBuffer<Index> partner(vertices, stream_), pick(vertices, stream_);
    const ScratchBuffer<std::uint32_t> score(vertices, stream_);
    const ScratchBuffer<Proposal> proposal(vertices, stream_);
    cuda_check(cudaMemsetAsync(partner.data(), 0xff, vertices * sizeof(Index), stream_));  // -1
    const Matching matching{partner.data(), pick.data(), score.data(), proposal.data()};
    for (int round = 0; round < kRounds; ++round) {
      launch_tiles(find_picks, graph_, longest, matching);
      launch(vertices, propose, vertices, level, round, matching);
      launch(vertices, settle, vertices, level, round, matching);
    }
    launch_tiles(find_leaders, graph_, longest, partner.data(), pick.data());
    return pick;
  }

  // Makes the edges between clusters, and graph_ of them.
  void merge_edges(const ScratchBuffer<Index>& cluster, Index clusters, OwnedGraph& coarse) {
    const Index edges = graph_.edges;
    const int bits = bits_of(clusters);
    coarse.row_ptr = ScratchBuffer<Index>(clusters + std::int64_t{1}, stream_);
    fill_zero(coarse.row_ptr.span(), stream_);
    Index merged = 0;
    if (edges > 0) {
      // Once they are sorted, the first two buffers take the merged edges.
      const ScratchBuffer<Key> keys(edges, stream_), sorted(edges, stream_);
      ScratchBuffer<std::uint32_t> weights(edges, stream_);
      const ScratchBuffer<std::uint32_t> sorted_weights(edges, stream_);
      const ScratchBuffer<Index> count(1, stream_);
      launch(edges, fill_keys, std::int64_t{edges}, keys.data());
      fill_zero(weights.span(), stream_);
      launch_tiles(number_edges, graph_, graph_.longest(), bits, cluster.data(), keys.data(),
                   weights.data());
      sort_pairs(keys.view(), sorted.span(), weights.view(), sorted_weights.span(), 2 * bits + 1,
                 stream_);
      sum_by_key(sorted.view(), sorted_weights.view(), keys.span(), weights.span(), count.data(),
                 stream_);
      launch(clusters + std::int64_t{1}, find_row_ptr, clusters, bits, keys.data(), count.data(),
             coarse.row_ptr.data());
      merged = read_back(coarse.row_ptr.data() + clusters, stream_);
      coarse.target = ScratchBuffer<Index>(merged, stream_);
      if (merged > 0)
        launch(merged, take_targets, merged, (Key{1} << bits) - 1, keys.data(),
               coarse.target.data());
      coarse.weight = std::move(weights);
    }
    graph_ = {clusters,
              merged,
              coarse.row_ptr.data(),
              coarse.target.data(),
              coarse.weight.data(),
              coarse.volume.data()};
  }

  // Replaces each cluster of `order` by its members. The sort is stable, so that members ascend.
  DeviceBuffer<Index> members_in_order(const DeviceBuffer<Index>& order,
                                       const ScratchBuffer<Index>& cluster) const {
    const auto clusters = static_cast<Index>(order.size());
    const auto vertices = static_cast<Index>(cluster.size());
    const ScratchBuffer<Index> position(clusters, stream_), members(vertices, stream_);
    const ScratchBuffer<std::uint32_t> keys(vertices, stream_), sorted(vertices, stream_);
    DeviceBuffer<Index> result(vertices, stream_);
    launch(clusters, invert, clusters, order.data(), position.data());
    launch(vertices, gather_positions, vertices, cluster.data(), position.data(), keys.data());
    launch(vertices, count_up, vertices, members.data());
    sort_pairs(keys.view(), sorted.span(), members.view(), result.span(), bits_of(clusters),
               stream_);
    return result;
  }

  StreamRef stream_;
  Graph graph_;
  OwnedGraph owned_;  // what graph_ refers to
  std::vector<ScratchBuffer<Index>> levels_;
};

}  // namespace

DeviceBuffer<std::int32_t> cluster_order(const DeviceCsr<double>& a, StreamRef stream) {
  DeviceBuffer<std::int32_t> order = DeviceClusters(stream).order(a);
  synchronize(stream);
  return order;
}

}  // namespace trireme
