// SPDX-License-Identifier: BSD-3-Clause
// One step of coarsening on several ranks: strength, aggregates, prolongator.
#include "multigrid/ranks/coarsen_on_ranks.hpp"

#include <span>
#include <utility>

#include "base/stopwatch.hpp"
#include "multigrid/ranks/aggregates_on_ranks.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/ranks/tentative_on_ranks.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "multigrid/set_up/strength.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

RankAggregates aggregates_of(MPI_Comm comm, const ExtendedRows& a, NodeGraph&& own,
                             bool aggressive) {
  RankGraph graph{.comm = comm,
                  .starts = a.node_starts(),
                  .ghosts = a.ghost_nodes(),
                  .halo = a.halo_of_nodes(),
                  .graph = std::move(own)};
  make_symmetric(graph);
  return aggressive ? aggregate_twice(graph) : aggregate(graph);
}

// Appends the ghosts' values to those of this rank's nodes.
template <class T>
void append_ghosts(const ExtendedRows& a, int width, Array<T>& values) {
  values.resize(values.size() + a.ghost_nodes().size() * width);
  a.exchange().fetch(std::span(values), width);
}

// Takes over the aggregates and gives them local numbers.
CoarseColumns number_aggregates(MPI_Comm comm, const ExtendedRows& a, RankAggregates&& aggregates,
                                Coarsening& c) {
  const int rank = rank_of(comm);
  const std::int64_t first = aggregates.starts[rank];
  const std::int64_t own = aggregates.starts[rank + 1] - first;
  c.aggregate_of_node = std::move(aggregates.of_node);
  if (c.rules.smoothed)
    append_ghosts(a, 1, c.aggregate_of_node);
  else  // no row of P leads to the aggregates of ghosts
    c.aggregate_of_node.resize(c.aggregate_of_node.size() + a.ghost_nodes().size(), -1);
  const Array<std::int32_t> others = others_among(c.aggregate_of_node, first, own);
  const LocalNumbers local(first, own, others);
  HostPlace::for_each(std::ssize(c.aggregate_of_node), [&](std::int64_t node) {
    c.aggregate_of_node[node] = local(c.aggregate_of_node[node]);
  });
  c.aggregates = static_cast<std::int32_t>(own + std::ssize(others));

  const std::int32_t width = c.tentative.width;
  for (std::int64_t& start : aggregates.starts) start *= width;
  Array<std::int32_t> ghosts;
  for (const std::int32_t number : others)
    for (std::int32_t j = 0; j < width; ++j) ghosts.push_back(number * width + j);
  return coarse_columns(comm, std::move(aggregates.starts), std::move(ghosts));
}

}  // namespace

RankCoarsening coarsen(MPI_Comm comm, const ExtendedRows& a, const NearNullspace& modes,
                       const CoarsenRules& rules) {
  RankCoarsening result;
  Coarsening& c = result.coarsening;
  c.rules = rules;
  Stopwatch watch;
  collectively(comm, [&] { checked_diagonal(a.view()); });
  Strength strength = find_strength(a.view(), rules.block_size, rules.threshold, a.exchange());
  c.strong = std::move(strength.strong);
  c.seconds.strength = watch.lap();

  RankAggregates aggregates = aggregates_of(comm, a, std::move(strength.graph), rules.aggressive);
  c.seconds.aggregation = watch.lap();

  c.tentative = make_tentative(comm, aggregates, modes, rules.block_size);
  c.coarse_modes = std::move(c.tentative.coarse_modes);
  c.coarse_block_size = c.tentative.width;
  if (modes.width > 0) append_ghosts(a, rules.block_size * c.tentative.width, c.tentative.values);
  result.columns = number_aggregates(comm, a, std::move(aggregates), c);
  const ProlongatorSmoothing smoothing = prolongator_smoothing(c, a.view(), a.exchange());
  collectively(comm, [&] { c.p = make_prolongator(prolongator_rules(c, a.view(), smoothing)); });
  c.seconds.prolongator = watch.lap();
  return result;
}

bool thin(MPI_Comm comm, Coarsening& c, const ExtendedRows& a, double part) {
  Stopwatch watch;
  double dropped = 0;
  collectively(comm, [&] { dropped = drop_small_runs(c, a.view(), part); });
  const bool thins = a.exchange().sum(dropped) > 0;
  if (thins) {
    c.thinned = part;
    const ProlongatorSmoothing smoothing = prolongator_smoothing(c, a.view(), a.exchange());
    collectively(comm, [&] { c.p = make_prolongator(prolongator_rules(c, a.view(), smoothing)); });
  }
  c.seconds = {.prolongator = watch.lap()};
  return thins;
}

void renew(MPI_Comm comm, Coarsening& c, const ExtendedRows& a) {
  Stopwatch watch;
  collectively(comm, [&] { checked_diagonal(a.view()); });
  const ProlongatorSmoothing smoothing = prolongator_smoothing(c, a.view(), a.exchange());
  refill_prolongator(prolongator_rules(c, a.view(), smoothing), c.p);
  c.seconds = {.prolongator = watch.lap()};
}

}  // namespace trireme::multigrid
