// SPDX-License-Identifier: BSD-3-Clause
// Builds the levels of a hierarchy one after the other, and takes new values into them.
#include "multigrid/hierarchy_parts.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/float_values.hpp"
#include "multigrid/forecast.hpp"
#include "multigrid/limits.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "multigrid/set_up/symmetry.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

constexpr int kTimedProducts = 3;

}  // namespace

Hierarchy::Parts::Parts(std::shared_ptr<DistributedMatrix> finest, const NearNullspace& modes,
                        const Options& requested)
    : options(requested), comm(finest->comm) {
  const Stopwatch watch;
  collectively(comm, [&] { check_options(options); });
  finest->require_32_bits();
  require_memory_of(comm, *finest, modes.width, options);
  NearNullspace of_level = modes;
  add_level(std::move(finest), of_level, options.block_size);
  while (coarsen_last(of_level)) {
    Level& fine = *levels.back();
    Transfer& transfer = *fine.transfer;
    of_level = std::move(transfer.coarsening.coarse_modes);
    const Stopwatch distribution;
    auto coarse = distribute(comm_of(fine), coarse_slab(fine), transfer.coarsening.columns.starts);
    set_up.distribution += distribution.seconds();
    add_level(std::move(coarse), of_level, transfer.coarsening.coarse_block_size);
  }
  for (int l = 0; l < static_cast<int>(levels.size()); ++l) set_numbers(l);
  finish(watch.seconds());
}

// The ranks that work on the level together.
MPI_Comm Hierarchy::Parts::comm_of(const Level& level) const {
  return level.matrix->comm == MPI_COMM_SELF ? MPI_COMM_SELF : static_cast<MPI_Comm>(comm);
}

void Hierarchy::Parts::add_level(std::shared_ptr<DistributedMatrix> matrix, NearNullspace& modes,
                                 std::int64_t node_size) {
  const Stopwatch watch;
  auto level = std::make_unique<Level>();
  level->node_size = node_size;
  if (size_of(matrix->comm) > 1 && lies_whole(matrix->global_rows(), node_size, options)) {
    level->replication.emplace(comm, matrix->row_starts);
    level->parts = matrix;
    matrix = level->replication->whole(*level->parts);
    modes = level->replication->whole(modes);
  }
  level->matrix = std::move(matrix);
  levels.push_back(std::move(level));
  set_up.distribution += watch.seconds();
}

RowSlab Hierarchy::Parts::coarse_slab(const Level& level) const {
  const Transfer& t = *level.transfer;
  const CoarseColumns& columns = t.coarsening.columns;
  RowSlab slab{.global_rows = columns.starts.back(),
               .global_cols = columns.starts.back(),
               .global_nnz = 0,
               .first_row = columns.first(),
               .local = {}};
  collectively(comm, [&] { slab.local = t.product->rows(); });
  slab.global_nnz = sum_over_ranks(columns.comm, slab.local.nnz());
  return slab;
}

// Makes or renews the product with A, P and P^T.
void Hierarchy::Parts::set_operator(Level& level) {
  Precision precision = options.precision;
  if (precision == Precision::mixed) {
    try {
      float_values_are_exact(*level.matrix);
    } catch (const AgreedError&) {  // beyond the range of FP32
      precision = Precision::full;
    }
  }
  if (level.op && level.precision == precision && level.op->can_refresh()) {
    level.op->refresh_values();
  } else {
    level.op.reset();
    level.op = std::make_unique<HostOperator>(
        level.matrix, "albus",
        OperatorOptions{.precision = precision, .same_bits_for_any_threads = true});
  }
  if (level.precision != precision) level.transposed.reset();
  level.precision = precision;
  if (!level.transfer) return;
  collectively(comm, [&] { set_transfer_kernels(*level.transfer, options.precision); });
}

// Makes or renews the smoother of level l, which is the coarsest one if `alone`.
void Hierarchy::Parts::set_smoother(int l, bool alone) {
  Level& level = *levels[l];
  const std::size_t rows = level.matrix->local_rows();
  level.d.resize(rows);
  level.q.resize(rows);
  Array<double> spare_b, spare_x;  // those of the finest level belong to the caller of apply()
  if (level.b.empty()) {
    spare_b.resize(rows);
    spare_x.resize(rows);
  }
  double radius = level.known_radius;
  if (level.transfer && level.transfer->coarsening.unfiltered)
    radius = level.transfer->coarsening.spectral_radius;
  const SmoothedLevel task{.number = l,
                           .node_size = level.node_size,
                           .coarsest = alone,
                           .symmetric = symmetric,
                           .radius = radius};
  level.smoother = smoother_numbers(comm, *level.op, options, task,
                                    {.r = level.b.empty() ? spare_b : level.b,
                                     .z = level.x.empty() ? spare_x : level.x,
                                     .p = level.d,
                                     .q = level.q});
  level.in_cycle.smoothing = level.smoother.smoothing;
  level.in_cycle.inverse = level.smoother.inverse.data();
  level.in_cycle.block_size = level.smoother.block_size;
  level.in_cycle.d = level.d.data();
  level.in_cycle.q = level.q.data();
}

// Makes or renews what a cycle needs on level l.
void Hierarchy::Parts::set_numbers(int l, bool known_symmetry) {
  Level& level = *levels[l];
  const std::int64_t rows = level.matrix->local_rows();
  if (l > 0 || level.replication) {
    level.b.resize(rows);
    level.x.resize(rows);
    level.in_cycle.b = level.b.data();
    level.in_cycle.x = level.x.data();
  }
  Stopwatch watch;
  if (!level.transfer && size_of(level.matrix->comm) == 1 &&
      rows <= std::max<std::int64_t>(options.coarsest_rows, kMaxDenseRows)) {
    collectively(comm, [&] {
      if (l == 0) require_nonzero_rows(local_rows(*level.matrix));
      level.inverse = dense_inverse(level.matrix->blocks.local.view());
    });
    level.in_cycle.kind = CycleLevel::Kind::solved;
    set_up.coarsest += watch.lap();
    return;
  }
  set_operator(level);
  set_up.kernels += watch.lap();
  if (l == 0 && !known_symmetry) symmetric = is_symmetric(*level.op);
  set_smoother(l, !level.transfer);
  set_up.smoothers += watch.lap();
}

void Hierarchy::Parts::renew() {
  const Stopwatch watch;
  set_up = {};
  for (const auto& level : levels) level->known_radius = 0;
  for (int l = 0; l < static_cast<int>(levels.size()); ++l) {
    Level& level = *levels[l];
    if (level.replication) {
      const Stopwatch distribution;
      level.replication->renew(*level.parts, *level.matrix);
      set_up.distribution += distribution.seconds();
    }
    if (level.transfer) {
      Transfer& t = *level.transfer;
      complete(level);
      together(level, [&] { t.rows->renew(*level.matrix); });
      const bool modes = any_rank(comm_of(level), !t.coarsening.tentative.values.empty());
      if (!modes) relax_constants(level, t);
      with_scaled_rows(level, t, [&] {
        multigrid::renew(t.coarsening, *t.rows);
        return true;
      });
      t.x.reset();
      add_seconds(t.coarsening.seconds);
      find_coarse_matrix(level);
      t.rows->forget_values();
      const Stopwatch distribution;
      Level& coarse = *levels[l + 1];
      DistributedMatrix& matrix = coarse.replication ? *coarse.parts : *coarse.matrix;
      matrix.replace_values(coarse_slab(level).local.values);
      set_up.distribution += distribution.seconds();
    }
    set_numbers(l);
  }
  finish(watch.seconds());
}

// Writes the facts.
void Hierarchy::Parts::finish(double seconds) {
  set_up.total = seconds;
  double* parts[] = {&set_up.strength,  &set_up.aggregation,  &set_up.prolongator,
                     &set_up.products,  &set_up.distribution, &set_up.kernels,
                     &set_up.smoothers, &set_up.coarsest,     &set_up.total};
  for (double* part : parts) *part = max_over_ranks(comm, *part);
  facts.clear();
  const Level* finer = nullptr;
  for (const auto& level : levels) {
    LevelFacts& fact = facts.emplace_back();
    if (finer) {
      const Coarsening& c = finer->transfer->coarsening;
      fact.prolongator = prolongator_words({c.rules.smoothed, c.thinned}, options);
    }
    finer = level.get();
    fact.rows = level->matrix->global_rows();
    fact.nnz = level->matrix->global_nnz;
    fact.replicated = level->replication || size_of(level->matrix->comm) < size_of(comm);
    if (level->in_cycle.kind == CycleLevel::Kind::solved) {
      fact.kernel = "dense inverse";
      continue;
    }
    fact.kernel = level->op->kernel();
    fact.precision = level->precision;
    fact.product_us = max_over_ranks(comm, level->op->measure_product_us(kTimedProducts));
    fact.spectral_radius = level->smoother.spectral_radius;
  }
}

std::int64_t Hierarchy::Parts::bytes() const {
  std::int64_t sum = 0;
  const auto add = [&](const auto& array) {
    sum += static_cast<std::int64_t>(array.size() * sizeof(array[0]));
  };
  const auto add_matrix = [&](const CsrMatrix<double>& m) {
    add(m.row_ptr);
    add(m.col_idx);
    add(m.values);
  };
  for (const auto& level : levels) {
    if (level != levels.front()) sum += level->matrix->csr_bytes();
    if (level->op && level->precision == Precision::mixed) sum += 4 * level->matrix->blocks.nnz();
    for (const Array<double>* a : {&level->b, &level->x, &level->d, &level->q,
                                   &level->smoother.inverse, &level->inverse.values})
      add(*a);
    if (!level->transfer) continue;
    const Transfer& t = *level->transfer;
    add_matrix(t.coarsening.p);
    add_matrix(t.read_restriction);
    if (t.product) sum += t.product->bytes();
    if (t.rows) sum += t.rows->bytes();
  }
  return sum;
}

}  // namespace trireme::multigrid
