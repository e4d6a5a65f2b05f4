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
  const std::int64_t coarse = transfer.row_starts.back();
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
  if (AcrossRanks* const across = level.transfer->across.get()) across->rows->forget_values();
  return true;
}

// Thins the prolongator of a level whose coarse matrix has more than `most` nonzeros, and computes
// that again. False where no thinning suffices.
bool Hierarchy::Parts::thin_until_it_fits(Level& level, std::int64_t most) {
  Transfer& t = *level.transfer;
  const double runs = t.across ? t.across->rows->exchange().sum(t.across->product->runs_of_terms())
                               : t.product->runs_of_terms();
  return find_thinning(runs, level.matrix->global_nnz, [&](double part) {
    bool thins = false;
    if (t.across)
      thins = thin(comm, t.coarsening, *t.across->rows, part);
    else
      collectively(comm, [&] { thins = thin(t.coarsening, local_rows(*level.matrix), part); });
    add_seconds(t.coarsening.seconds);
    if (!thins) return false;
    t.product.reset();
    if (t.across) t.across->product.reset();
    find_coarse_matrix(level, most);
    return coarse_nonzeros(level) <= most;
  });
}

// Finds aggregates and prolongator of a level.
Transfer Hierarchy::Parts::coarsened(const Level& level, const NearNullspace& modes,
                                     const CoarsenRules& rules) {
  Transfer transfer;
  if (size_of(comm_of(level)) > 1) {
    collectively(comm, [&] { check_sizes(local_rows(*level.matrix), modes, rules); });
    transfer.across = std::make_unique<AcrossRanks>(comm, *level.matrix, rules.block_size);
    RankCoarsening found = coarsen(comm, *transfer.across->rows, modes, rules);
    transfer.coarsening = std::move(found.coarsening);
    transfer.across->columns = std::move(found.columns);
    transfer.row_starts = transfer.across->columns.starts;
    transfer.first_row = transfer.across->columns.first();
  } else {
    collectively(comm,
                 [&] { transfer.coarsening = coarsen(local_rows(*level.matrix), modes, rules); });
    transfer.row_starts = {0, transfer.coarsening.p.cols};
  }
  add_seconds(transfer.coarsening.seconds);
  return transfer;
}

void Hierarchy::Parts::add_seconds(const CoarsenSeconds& seconds) {
  set_up.strength += seconds.strength;
  set_up.aggregation += seconds.aggregation;
  set_up.prolongator += seconds.prolongator;
}

// Of the coarse matrix, or INT64_MAX where it was not computed.
std::int64_t Hierarchy::Parts::coarse_nonzeros(const Level& level) const {
  const Transfer& t = *level.transfer;
  if (t.across ? t.across->product->exceeds() : t.product->exceeds()) return INT64_MAX;
  return t.across ? sum_over_ranks(comm, t.across->product->nnz()) : t.product->coarse().nnz();
}

// Computes P^T and P^T A P, or the numbers of both where their patterns are known. A coarse matrix
// of more than `most` nonzeros may be left out.
void Hierarchy::Parts::find_coarse_matrix(Level& level, std::int64_t most) {
  const Stopwatch watch;
  Transfer& t = *level.transfer;
  const CsrView<double> p = t.coarsening.p.view();
  const std::int32_t run = t.coarsening.coarse_block_size;
  if (AcrossRanks* const across = t.across.get()) {
    if (across->product) {
      across->product->renew(*across->rows, p);
    } else {
      across->product.emplace(*across->rows, p, across->columns, run, most);
      across->vector.emplace(across->columns);
    }
  } else {
    collectively(comm, [&] {
      const LocalRows a = local_rows(*level.matrix);
      if (t.product)
        t.product->renew(a, p);
      else
        t.product.emplace(a, p, run, most);
    });
  }
  set_up.products += watch.seconds();
}

}  // namespace trireme::multigrid
