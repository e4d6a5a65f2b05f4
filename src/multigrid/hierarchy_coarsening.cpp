// SPDX-License-Identifier: BSD-3-Clause
// From the last level to the next coarser one: aggregates, prolongator and coarse matrix.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "multigrid/hierarchy_parts.hpp"
#include "multigrid/limits.hpp"
#include "multigrid/set_up/thinning.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

bool Hierarchy::Parts::end(std::string why) {
  remark = std::move(why);
  return false;
}

// Finds the prolongator of the last level and the next coarser matrix. False where the last level
// is the coarsest one.
bool Hierarchy::Parts::coarsen_last(const NearNullspace& modes) {
  const int l = static_cast<int>(levels.size()) - 1;
  Level& level = *levels.back();
  const std::int64_t rows = level.matrix->global_rows();
  if (rows <= options.coarsest_rows) return false;
  if (l + 1 >= options.max_levels) return end(fmt::format("max_levels is {}", options.max_levels));
  CoarsenRules rules{.threshold = options.threshold,
                     .smoothed = options.smoothed_prolongator,
                     .aggressive = l < options.aggressive_levels,
                     .block_size = static_cast<std::int32_t>(level.node_size)};
  Transfer transfer = coarsened(level, modes, rules);
  const std::int64_t coarse = transfer.coarsening.columns.starts.back();
  if (static_cast<double>(coarse) > kShrinksTooLittle * static_cast<double>(rows))
    return end(
        fmt::format("level {} has {} rows, and the next one would have {}", l, rows, coarse));
  if (coarse == 0) return end(fmt::format("no row of level {} has a strong connection", l));
  level.transfer = std::move(transfer);
  const std::int64_t most = options.smoothed_prolongator
                                ? most_nonzeros(options.fill, level.matrix->global_nnz)
                                : INT64_MAX;
  find_coarse_matrix(level, most);
  if (coarse_nonzeros(level) > most && !thin_until_it_fits(level, most)) {
    rules.smoothed = false;
    level.transfer.reset();
    level.transfer = coarsened(level, modes, rules);
    find_coarse_matrix(level);
  }
  level.transfer->x.reset();
  level.transfer->rows->forget_values();
  return true;
}

// Thins the prolongator of a level whose coarse matrix has more than `most` nonzeros, and computes
// that again. False where no thinning suffices.
bool Hierarchy::Parts::thin_until_it_fits(Level& level, std::int64_t most) {
  Transfer& t = *level.transfer;
  const double runs = t.rows->exchange().sum(t.product->runs_of_terms());
  return find_thinning(runs, level.matrix->global_nnz, [&](double part) {
    bool thins = false;
    with_scaled_rows(level, t, [&] { return thins = thin(t.coarsening, *t.rows, part); });
    add_seconds(t.coarsening.seconds);
    if (!thins) return false;
    t.product.reset();
    find_coarse_matrix(level, most);
    return coarse_nonzeros(level) <= most;
  });
}

// Finds aggregates and prolongator of a level.
Transfer Hierarchy::Parts::coarsened(const Level& level, const NearNullspace& modes,
                                     const CoarsenRules& rules) {
  Transfer transfer;
  collectively(comm, [&] { check_sizes(local_rows(*level.matrix), modes, rules); });
  transfer.rows.emplace(comm_of(level), *level.matrix, rules.block_size);
  const Stopwatch relaxation;
  if (modes.width == 0) relax_constants(level, transfer);
  set_up.prolongator += relaxation.seconds();
  with_scaled_rows(level, transfer, [&] {
    transfer.coarsening = coarsen(*transfer.rows, modes, rules);
    return true;
  });
  add_seconds(transfer.coarsening.seconds);
  return transfer;
}

// Of the finest level: coarse levels have its constants as theirs.
void Hierarchy::Parts::relax_constants(const Level& level, Transfer& t) const {
  if (&level != levels.front().get()) return;
  const auto size = static_cast<std::int32_t>(level.node_size);
  together(level, [&] { t.x = relaxed_constants(*t.rows, size); });
}

void Hierarchy::Parts::add_seconds(const CoarsenSeconds& seconds) {
  set_up.strength += seconds.strength;
  set_up.aggregation += seconds.aggregation;
  set_up.prolongator += seconds.prolongator;
}

// Of the coarse matrix, or INT64_MAX where it was not computed.
std::int64_t Hierarchy::Parts::coarse_nonzeros(const Level& level) const {
  const TripleProduct& product = *level.transfer->product;
  if (product.exceeds()) return INT64_MAX;
  return sum_over_ranks(comm_of(level), product.coarse().nnz());
}

// Computes P^T and P^T A P, or the numbers of both where their patterns are known. A coarse matrix
// of more than `most` nonzeros may be left out.
void Hierarchy::Parts::find_coarse_matrix(Level& level, std::int64_t most) {
  const Stopwatch watch;
  Transfer& t = *level.transfer;
  const CsrView<double> p = t.coarsening.p.view();
  const std::int32_t run = t.coarsening.coarse_block_size;
  const CoarseColumns& columns = t.coarsening.columns;
  together(level, [&] {
    if (t.product)
      t.product->renew(*t.rows, p);
    else
      t.product.emplace(*t.rows, p, columns, run, most);
  });
  if (!t.vector && size_of(columns.comm) > 1) t.vector = std::make_unique<CoarseVector>(columns);
  set_up.products += watch.seconds();
}

}  // namespace trireme::multigrid
