// SPDX-License-Identifier: BSD-3-Clause
// The lists of vertices whose pair lies on another rank travel there; each rank then joins two
// lists per pair.
#include "partitioning/coarse_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/split_mix.hpp"
#include "parallel/collective.hpp"
#include "parallel/message_starts.hpp"

namespace trireme::partitioning {
namespace {

// What messages have, in the words of an error.
constexpr std::string_view kElements = "edges of the graph of the matrix";

struct Edge {
  std::int32_t to, weight;
};
// Of a list that travels: the number of the pair, and of the edges.
struct Header {
  std::int32_t pair, edges;
};

// Whether the pair of `vertex` lies on this rank because of it.
bool is_root(const WeightedGraph& g, std::span<const std::int32_t> mate, std::int32_t vertex) {
  if (mate[vertex] == vertex) return true;
  const auto own = static_cast<std::uint64_t>(g.global(vertex));
  const auto other = static_cast<std::uint64_t>(g.global(mate[vertex]));
  const bool lower = (mix_bits((std::min(own, other) << 32 | std::max(own, other))) & 1) != 0;
  return (own < other) == lower;
}

// The global numbers of the pairs, by vertex and by ghost. Sets `starts` to the cuts of the pairs.
// Collective.
Array<std::int32_t> number_pairs(const WeightedGraph& g, std::span<const std::int32_t> mate,
                                 std::vector<std::int64_t>& starts) {
  const std::int32_t vertices = g.vertices();
  const MPI_Comm comm = g.graph.comm;
  std::int64_t pairs = 0;
  for (std::int32_t v = 0; v < vertices; ++v) pairs += is_root(g, mate, v) ? 1 : 0;
  starts.assign(size_of(comm) + 1, 0);
  MPI_Allgather(&pairs, 1, MPI_INT64_T, starts.data() + 1, 1, MPI_INT64_T, comm);
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  Array<std::int32_t> pair;
  collectively(comm, [&] {
    pair.resize(g.weights.size());
    auto next = static_cast<std::int32_t>(starts[rank_of(comm)]);
    for (std::int32_t v = 0; v < vertices; ++v) pair[v] = is_root(g, mate, v) ? next++ : -1;
  });
  g.graph.exchange().fetch(std::span(pair));
  for (std::int32_t v = 0; v < vertices; ++v)
    if (pair[v] < 0) pair[v] = pair[mate[v]];
  g.graph.exchange().fetch(std::span(pair));
  return pair;
}

// Records by the rank to which they go. Collective.
template <class Record>
Array<Record> exchanged(MPI_Comm comm, const Array<Record>& packed, const std::vector<int>& send,
                        const std::vector<int>& send_at) {
  static_assert(sizeof(Record) == 2 * sizeof(int));
  std::vector<int> receive(send.size()), receive_at;
  MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, comm);
  Array<Record> arrived;
  collectively(comm, [&] {
    receive_at = message_starts(receive, kElements);
    arrived.resize(static_cast<std::size_t>(receive_at.back()) + receive.back());
  });
  MPI_Alltoallv(packed.data(), send.data(), send_at.data(), MPI_2INT, arrived.data(),
                receive.data(), receive_at.data(), MPI_2INT, comm);
  return arrived;
}

struct Lists {
  Array<Header> headers;
  Array<Edge> edges;
};

// The lists of vertices of other ranks whose pairs lie here. Collective.
Lists lists_of_others(const WeightedGraph& g, std::span<const std::int32_t> pair,
                      const std::vector<std::int64_t>& starts) {
  const MPI_Comm comm = g.graph.comm;
  const int rank = rank_of(comm), ranks = size_of(comm);
  const multigrid::NodeGraph& graph = g.graph;
  std::vector<int> lists(ranks, 0), edges(ranks, 0), lists_at, edges_at;
  Lists packed;
  collectively(comm, [&] {
    const auto for_each_list = [&](const auto& visit) {
      for (std::int32_t v = 0; v < graph.nodes; ++v) {
        if (pair[v] >= starts[rank] && pair[v] < starts[rank + 1]) continue;
        const auto after = std::upper_bound(starts.begin(), starts.end(), pair[v]);
        visit(v, static_cast<int>(after - starts.begin()) - 1);
      }
    };
    for_each_list([&](std::int32_t v, int to) {
      ++lists[to];
      edges[to] += graph.row_ptr[v + 1] - graph.row_ptr[v];
    });
    lists_at = message_starts(lists, kElements);
    edges_at = message_starts(edges, kElements);
    packed.headers.resize(static_cast<std::size_t>(lists_at.back()) + lists.back());
    packed.edges.resize(static_cast<std::size_t>(edges_at.back()) + edges.back());
    std::vector<int> next_list = lists_at, next_edge = edges_at;
    for_each_list([&](std::int32_t v, int to) {
      packed.headers[next_list[to]++] = {pair[v], graph.row_ptr[v + 1] - graph.row_ptr[v]};
      for (std::int32_t k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k)
        packed.edges[next_edge[to]++] = {pair[graph.neighbour[k]], g.edge_weight(k)};
    });
  });
  return {.headers = exchanged(comm, packed.headers, lists, lists_at),
          .edges = exchanged(comm, packed.edges, edges, edges_at)};
}

// Sorts the edges, adds those with the same end, and leaves out those to the pair itself.
void join(std::vector<Edge>& edges, std::int32_t pair) {
  std::erase_if(edges, [&](const Edge& edge) { return edge.to == pair; });
  std::ranges::sort(edges, {}, &Edge::to);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    if (kept > 0 && edges[kept - 1].to == edges[k].to)
      edges[kept - 1].weight += edges[k].weight;
    else
      edges[kept++] = edges[k];
  }
  edges.resize(kept);
}

}  // namespace

RowGraph coarse_graph(const WeightedGraph& g, std::span<const std::int32_t> mate) {
  const MPI_Comm comm = g.graph.comm;
  RowGraph coarse;
  coarse.has_edge_weights = true;
  const Array<std::int32_t> pair = number_pairs(g, mate, coarse.vertex_starts);
  const Lists others = lists_of_others(g, pair, coarse.vertex_starts);
  collectively(comm, [&] {
    const multigrid::NodeGraph& graph = g.graph;
    const std::int64_t first = coarse.vertex_starts[rank_of(comm)];
    const std::int64_t pairs = coarse.vertex_starts[rank_of(comm) + 1] - first;
    std::vector<std::int64_t> begin(pairs, -1);  // of the list that has come
    std::vector<std::int32_t> length(pairs, 0);
    std::int64_t at = 0;
    for (const Header& header : others.headers) {
      begin[header.pair - first] = at;
      length[header.pair - first] = header.edges;
      at += header.edges;
    }
    // Pages that nothing is written to take no memory.
    const std::size_t bound = graph.neighbour.size() + others.edges.size();
    coarse.neighbours.resize(bound);
    coarse.edge_weights.resize(bound);
    coarse.weights.resize(pairs);
    coarse.offsets.resize(pairs + 1);
    coarse.offsets[0] = 0;
    std::vector<Edge> edges;
    const auto add = [&](std::int32_t v) {
      for (std::int32_t k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k)
        edges.push_back({pair[graph.neighbour[k]], g.edge_weight(k)});
    };
    std::int64_t c = 0, kept = 0;
    for (std::int32_t v = 0; v < graph.nodes; ++v) {
      if (!is_root(g, mate, v)) continue;
      edges.clear();
      add(v);
      coarse.weights[c] = g.weights[v];
      if (mate[v] != v) {
        coarse.weights[c] += g.weights[mate[v]];
        if (mate[v] < graph.nodes)
          add(mate[v]);
        else
          edges.insert(edges.end(), others.edges.begin() + begin[c],
                       others.edges.begin() + begin[c] + length[c]);
      }
      join(edges, static_cast<std::int32_t>(first + c));
      for (const Edge& edge : edges) {
        coarse.neighbours[kept] = edge.to;
        coarse.edge_weights[kept++] = edge.weight;
      }
      if (kept > std::numeric_limits<std::int32_t>::max())
        fail(ExitCode::resource,
             "a rank would get more than 2^31-1 edges of the graph of the matrix; use more ranks, "
             "or distribution: rows");
      coarse.offsets[++c] = static_cast<std::int32_t>(kept);
    }
    coarse.neighbours.resize(kept);
    coarse.edge_weights.resize(kept);
  });
  return coarse;
}

Array<std::int32_t> parts_of_vertices(const WeightedGraph& g, std::span<const std::int32_t> mate,
                                      std::span<const std::int32_t> coarse_parts) {
  Array<std::int32_t> part;
  collectively(g.graph.comm, [&] {
    part.resize(g.weights.size());
    std::size_t c = 0;
    for (std::int32_t v = 0; v < g.vertices(); ++v)
      part[v] = is_root(g, mate, v) ? coarse_parts[c++] : -1;
  });
  g.graph.exchange().fetch(std::span(part));
  for (std::int32_t v = 0; v < g.vertices(); ++v)
    if (part[v] < 0) part[v] = part[mate[v]];
  g.graph.exchange().fetch(std::span(part));
  return part;
}

}  // namespace trireme::partitioning
