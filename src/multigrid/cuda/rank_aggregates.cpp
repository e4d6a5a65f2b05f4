// SPDX-License-Identifier: BSD-3-Clause
// Aggregates of the nodes of several ranks, and the numbers of the columns of P.
#include <utility>

#include "multigrid/cuda/device_transfer.hpp"
#include "multigrid/cuda/rank_rows.hpp"
#include "multigrid/cuda/rank_set_up_parts.hpp"
#include "multigrid/ranks/edges_of_others.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/ranks/node_exchange.hpp"
#include "parallel/secret_numbers.hpp"

namespace trireme::multigrid {
namespace {

// The numbers outside [first, first + own), once each and ascending.
Array<std::int32_t> others_on_gpu(DeviceSpan<const std::int32_t> numbers, std::int64_t first,
                                  std::int64_t own, StreamRef stream) {
  const Array<std::int32_t> found = numbers_outside(numbers, first, own, stream);
  return others_among(std::span<const std::int32_t>(found), first, own);
}

}  // namespace

void RankSetUp::Parts::find_aggregates(std::size_t l, Transfer& t,
                                       ScratchBuffer<double>& diagonal) {
  Level& level = *levels[l];
  const RankOfRows rank = rank_of_rows(l);
  Stopwatch watch;
  x = {};
  if (l == 0 && modes.width == 0) x = relaxed_constants(level.a, level.node_size, stream, rank);
  seconds.prolongator += lap(watch);
  const DeviceScaledRows rows(level.a, x, stream);
  DeviceStrength strength = find_strength(rows.a, level.node_size, options.threshold, stream, rank);
  t.strong = std::move(strength.strong);
  diagonal = x.empty() ? std::move(strength.diagonal) : checked_diagonal(level.a, stream, rank);
  NodeGraph graph = symmetric_graph(level, strength.graph);
  seconds.strength += lap(watch);
  Aggregates aggregates;
  ScratchBuffer<std::int32_t> of_node =
      aggregates_of(l, strength.graph, std::move(graph), aggregates);
  seconds.aggregation += lap(watch);
  set_tentative(level, t, aggregates);
  number_aggregates(level, t, std::move(of_node), std::move(aggregates.starts));
  seconds.prolongator += lap(watch);
}

NodeGraph RankSetUp::Parts::symmetric_graph(const Level& level, DeviceGraph& graph) {
  NodeGraph host{.comm = comm,
                 .starts = {},
                 .neighbour = {},
                 .ghosts = level.ghost_nodes,
                 .halo = level.nodes};
  for (const std::int64_t start : level.starts) host.starts.push_back(start / level.node_size);
  host.nodes = graph.nodes;
  level.ghosts->agree();
  const std::uint64_t key = secret_number(comm);
  if (is_symmetric_on_ranks(graph, level.ghost_nodes, host.first(), key, *level.ghosts, stream))
    return host;
  const auto first = static_cast<std::int32_t>(host.first());
  const DeviceCsr<double> pattern{graph.nodes,
                                  graph.nodes + std::ssize(level.ghost_nodes),
                                  static_cast<std::int64_t>(graph.neighbour.size()),
                                  graph.row_ptr.view(),
                                  graph.neighbour.view(),
                                  {}};
  const Array<std::int32_t> beyond = rows_beyond(pattern, graph.nodes, stream);
  const CsrMatrix<double> crossing = rows_on_host(pattern, beyond, stream);
  Array<Edge> edges;
  for (std::size_t i = 0; i < beyond.size(); ++i)
    for (std::int32_t k = crossing.row_ptr[i]; k < crossing.row_ptr[i + 1]; ++k) {
      const std::int32_t to = crossing.col_idx[static_cast<std::size_t>(k)];
      if (to >= graph.nodes)
        edges.push_back(
            {level.ghost_nodes[static_cast<std::size_t>(to - graph.nodes)], first + beyond[i]});
    }
  level.ghosts->agree();
  const EdgesOfOthers received(comm, host.starts, edges);
  Array<std::int32_t> ends = received.to();
  ends.insert(ends.end(), level.ghost_nodes.begin(), level.ghost_nodes.end());
  host.ghosts = others_among(std::span<const std::int32_t>(ends), first, host.nodes);
  const LocalNumbers local(first, host.nodes, host.ghosts);
  Array<std::int32_t> place, of_others;
  for (const std::int32_t ghost : level.ghost_nodes) place.push_back(local(ghost));
  for (const std::int32_t edge : received.by_node().member)
    of_others.push_back(local(received.to()[static_cast<std::size_t>(edge)]));
  add_edges_back(graph, place, received.by_node().first, of_others,
                 graph.nodes + std::ssize(host.ghosts), stream);
  level.ghosts->agree();
  host.halo = plan_halo(comm, host.starts, host.ghosts);
  return host;
}

void RankSetUp::Parts::take_edges(const DeviceGraph& graph, NodeGraph& host) const {
  host.row_ptr = to_host(graph.row_ptr.view(), stream);
  host.neighbour = to_host(graph.neighbour.view(), stream);
}

ScratchBuffer<std::int32_t> RankSetUp::Parts::aggregates_of(std::size_t l, const DeviceGraph& graph,
                                                            NodeGraph&& host,
                                                            Aggregates& aggregates) {
  const Level& level = *levels[l];
  level.ghosts->agree();
  if (static_cast<int>(l) < options.aggressive_levels) {
    take_edges(graph, host);
    level.ghosts->agree();
    aggregates = aggregate_twice(host);
    return upload(std::span<const std::int32_t>(aggregates.of_node), stream);
  }
  const DeviceGhosts exchange(comm, host.halo, host.nodes, 1, way_through_host, stream);
  DeviceAggregates found =
      aggregate_on_ranks(graph, host.first(), exchange, aggregates.starts, stream);
  if (modes.width > 0) {
    aggregates.of_node = to_host(found.of_node.view(), stream);
    aggregates.roots = to_host(found.roots.view(), stream);
  }
  return std::move(found.of_node);
}

void RankSetUp::Parts::set_tentative(const Level& level, Transfer& t,
                                     const Aggregates& aggregates) {
  coarse_modes = {};
  t.tentative.block_size = level.node_size;
  t.tentative.width = modes.width > 0 ? modes.width : level.node_size;
  if (modes.width == 0) return;
  level.ghosts->agree();
  Tentative tentative = make_tentative(comm, aggregates, modes, level.node_size);
  coarse_modes = std::move(tentative.coarse_modes);
  const std::int64_t width = std::int64_t{level.node_size} * tentative.width;
  tentative.values.resize(tentative.values.size() +
                          level.ghost_nodes.size() * static_cast<std::size_t>(width));
  level.ghosts->agree();
  NodeExchange(comm, level.nodes, std::ssize(aggregates.of_node))
      .fetch(std::span(tentative.values), static_cast<int>(width));
  t.tentative.values = upload(std::span<const double>(tentative.values), stream);
}

void RankSetUp::Parts::number_aggregates(const Level& level, Transfer& t,
                                         ScratchBuffer<std::int32_t>&& of_node,
                                         std::vector<std::int64_t>&& starts) {
  const std::size_t nodes = of_node.size(), ghosts = level.ghost_nodes.size();
  t.aggregate_of_node = ScratchBuffer<std::int32_t>(nodes + ghosts, stream);
  copy_on_device(of_node.view(), t.aggregate_of_node.span(), stream);
  fill_nan(t.aggregate_of_node.span().subspan(nodes, ghosts), stream);  // -1
  if (t.smoothed) level.ghosts->fetch(t.aggregate_of_node.data());
  const std::int64_t first = starts[own_rank()], own = starts[own_rank() + 1] - first;
  const Array<std::int32_t> others = others_on_gpu(t.aggregate_of_node.view(), first, own, stream);
  make_local(t.aggregate_of_node.span(), first, own, others, stream);
  t.aggregates = static_cast<std::int32_t>(own + std::ssize(others));
  const std::int32_t width = t.tentative.width;
  for (std::int64_t& start : starts) start *= width;
  Array<std::int32_t> columns;
  for (const std::int32_t number : others)
    for (std::int32_t j = 0; j < width; ++j) columns.push_back(number * width + j);
  level.ghosts->agree();
  t.columns = coarse_columns(comm, std::move(starts), std::move(columns));
}

}  // namespace trireme::multigrid
