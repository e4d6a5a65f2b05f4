// SPDX-License-Identifier: BSD-3-Clause
// One step of coarsening: strength, aggregates, prolongator.
#include "multigrid/set_up/coarsen.hpp"

#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "multigrid/set_up/strength.hpp"
#include "multigrid/set_up/thin_row.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

constexpr std::int32_t kMaxBlockSize = 64;

// Appends the ghosts' values to those of this rank's nodes.
template <class T>
void append_ghosts(const ExtendedRows& a, int width, Array<T>& values) {
  values.resize(values.size() + a.ghost_nodes().size() * width);
  a.exchange().fetch(std::span(values), width);
}

// Takes over the aggregates and gives them local numbers.
void number_aggregates(const ExtendedRows& a, Aggregates&& aggregates, Coarsening& c) {
  const std::int64_t first = aggregates.starts[rank_of(a.comm())], own = aggregates.count();
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
  c.columns = coarse_columns(a.comm(), std::move(aggregates.starts), std::move(ghosts));
}

// How the prolongator is smoothed.
struct ProlongatorSmoothing {
  Array<double> diagonal;  // of A_F
  double weight = 0;
};

// Estimates the spectral radius of a coarsening that lacks P. Collective.
ProlongatorSmoothing find_smoothing(Coarsening& c, const ExtendedRows& a) {
  ProlongatorSmoothing smoothing;
  if (!c.rules.smoothed) return smoothing;
  const FilteredMatrix filtered{a.view(), c.strong, c.rules.block_size};
  smoothing.diagonal = filtered_diagonal(filtered);
  c.unfiltered = is_unfiltered(filtered, a.exchange());
  c.spectral_radius = filtered_spectral_radius(filtered, smoothing.diagonal, a.exchange());
  if (c.spectral_radius > 0) smoothing.weight = kProlongatorDamping / c.spectral_radius;
  return smoothing;
}

ProlongatorRules prolongator_rules(const Coarsening& c, const ExtendedRows& a,
                                   const ProlongatorSmoothing& smoothing) {
  return {FilteredMatrix{a.view(), c.strong, c.rules.block_size},
          smoothing.diagonal,
          smoothing.weight,
          c.aggregate_of_node,
          c.aggregates,
          &c.tentative};
}

void find_prolongator(Coarsening& c, const ExtendedRows& a) {
  const ProlongatorSmoothing smoothing = find_smoothing(c, a);
  collectively(a.comm(), [&] { c.p = make_prolongator(prolongator_rules(c, a, smoothing)); });
}

// Makes the entries weak that lead to small runs, and returns how many there were on this rank.
double drop_small_runs(Coarsening& c, const CsrView<double>& a, double part) {
  if (c.strong.empty()) c.strong.assign(a.nnz(), 1);
  return HostPlace::sum(
      a.rows, by_one_thread<kLanesOfRow>(ThinRow{MatrixPointers(a), MatrixPointers(c.p),
                                                 c.aggregate_of_node.data(), c.rules.block_size,
                                                 c.tentative.width, part, c.strong.data()}));
}

}  // namespace

void check_sizes(const LocalRows& a, const NearNullspace& modes, const CoarsenRules& rules) {
  if (rules.block_size < 1 || rules.block_size > kMaxBlockSize)
    fail(ExitCode::usage, "multigrid takes blocks of 1 to {} rows, not of {}", kMaxBlockSize,
         rules.block_size);
  if (a.local.rows % rules.block_size != 0)
    fail(ExitCode::usage, "the {} rows of a rank are no multiple of the block size {} of multigrid",
         a.local.rows, rules.block_size);
  if (static_cast<std::int64_t>(modes.values.size()) != a.local.rows * modes.width)
    fail(ExitCode::internal, "{} values of {} near-nullspace vectors for {} rows",
         modes.values.size(), modes.width, a.local.rows);
}

Coarsening coarsen(const ExtendedRows& a, const NearNullspace& modes, const CoarsenRules& rules) {
  Coarsening c;
  c.rules = rules;
  collectively(a.comm(), [&] { check_sizes(a.view(), modes, rules); });
  Stopwatch watch;
  Strength strength = find_strength(a, rules.block_size, rules.threshold);
  c.strong = std::move(strength.strong);
  c.seconds.strength = watch.lap();

  Aggregates aggregates =
      rules.aggressive ? aggregate_twice(strength.graph) : aggregate(strength.graph);
  c.seconds.aggregation = watch.lap();

  c.tentative = make_tentative(a.comm(), aggregates, modes, rules.block_size);
  c.coarse_modes = std::move(c.tentative.coarse_modes);
  c.coarse_block_size = c.tentative.width;
  if (modes.width > 0) append_ghosts(a, rules.block_size * c.tentative.width, c.tentative.values);
  number_aggregates(a, std::move(aggregates), c);
  find_prolongator(c, a);
  c.seconds.prolongator = watch.lap();
  return c;
}

bool thin(Coarsening& c, const ExtendedRows& a, double part) {
  Stopwatch watch;
  double dropped = 0;
  collectively(a.comm(), [&] { dropped = drop_small_runs(c, a.view().local, part); });
  const bool thins = a.exchange().sum(dropped) > 0;
  if (thins) {
    c.thinned = part;
    find_prolongator(c, a);
  }
  c.seconds = {.prolongator = watch.lap()};
  return thins;
}

void renew(Coarsening& c, const ExtendedRows& a) {
  Stopwatch watch;
  collectively(a.comm(), [&] { checked_diagonal(a.view()); });
  const ProlongatorSmoothing smoothing = find_smoothing(c, a);
  refill_prolongator(prolongator_rules(c, a, smoothing), c.p);
  c.seconds = {.prolongator = watch.lap()};
}

}  // namespace trireme::multigrid
