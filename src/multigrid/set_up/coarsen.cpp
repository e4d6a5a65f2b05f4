// SPDX-License-Identifier: BSD-3-Clause
// One step of coarsening: strength, aggregates, prolongator.
#include "multigrid/set_up/coarsen.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "multigrid/set_up/strength.hpp"
#include "multigrid/set_up/thin_row.hpp"

namespace trireme::multigrid {
namespace {

constexpr std::int32_t kMaxBlockSize = 64;

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

ProlongatorSmoothing prolongator_smoothing(Coarsening& c, const LocalRows& a,
                                           const NodeExchange& ghosts) {
  ProlongatorSmoothing smoothing;
  if (!c.rules.smoothed) return smoothing;
  const FilteredMatrix filtered{a, c.strong, c.rules.block_size};
  smoothing.diagonal = filtered_diagonal(filtered);
  c.unfiltered = is_unfiltered(filtered, ghosts);
  c.spectral_radius = filtered_spectral_radius(filtered, smoothing.diagonal, ghosts);
  if (c.spectral_radius > 0) smoothing.weight = kProlongatorDamping / c.spectral_radius;
  return smoothing;
}

ProlongatorRules prolongator_rules(const Coarsening& c, const LocalRows& a,
                                   const ProlongatorSmoothing& smoothing) {
  return {FilteredMatrix{a, c.strong, c.rules.block_size},
          smoothing.diagonal,
          smoothing.weight,
          c.aggregate_of_node,
          c.aggregates,
          &c.tentative};
}

Coarsening coarsen(const LocalRows& a, const NearNullspace& modes, const CoarsenRules& rules) {
  check_sizes(a, modes, rules);
  Coarsening c;
  c.rules = rules;
  Stopwatch watch;
  Strength strength = find_strength(a, rules.block_size, rules.threshold);
  c.strong = std::move(strength.strong);
  c.seconds.strength = watch.lap();

  Aggregates aggregates =
      rules.aggressive ? aggregate_twice(strength.graph) : aggregate(strength.graph);
  c.aggregates = aggregates.count();
  c.seconds.aggregation = watch.lap();

  c.tentative = make_tentative(aggregates, modes, rules.block_size);
  c.coarse_modes = std::move(c.tentative.coarse_modes);
  c.coarse_block_size = c.tentative.width;
  c.aggregate_of_node = std::move(aggregates.of_node);
  const ProlongatorSmoothing smoothing = prolongator_smoothing(c, a);
  c.p = make_prolongator(prolongator_rules(c, a, smoothing));
  c.seconds.prolongator = watch.lap();
  return c;
}

double drop_small_runs(Coarsening& c, const LocalRows& a, double part) {
  if (c.strong.empty()) c.strong.assign(a.local.nnz(), 1);
  return HostPlace::sum(
      a.local.rows, by_one_thread<kLanesOfRow>(ThinRow{
                        MatrixPointers(a.local), MatrixPointers(c.p), c.aggregate_of_node.data(),
                        c.rules.block_size, c.tentative.width, part, c.strong.data()}));
}

bool thin(Coarsening& c, const LocalRows& a, double part) {
  Stopwatch watch;
  const bool thins = drop_small_runs(c, a, part) > 0;
  if (thins) {
    c.thinned = part;
    const ProlongatorSmoothing smoothing = prolongator_smoothing(c, a);
    c.p = make_prolongator(prolongator_rules(c, a, smoothing));
  }
  c.seconds = {.prolongator = watch.lap()};
  return thins;
}

void renew(Coarsening& c, const LocalRows& a) {
  Stopwatch watch;
  checked_diagonal(a);
  const ProlongatorSmoothing smoothing = prolongator_smoothing(c, a);
  refill_prolongator(prolongator_rules(c, a, smoothing), c.p);
  c.seconds = {.prolongator = watch.lap()};
}

}  // namespace trireme::multigrid
