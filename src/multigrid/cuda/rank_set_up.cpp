// SPDX-License-Identifier: BSD-3-Clause
// Builds the distributed levels one after the other, as hierarchy_coarsening.cpp does on the host.
#include "multigrid/cuda/rank_set_up.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/device_smoother.hpp"
#include "multigrid/cuda/rank_rows.hpp"
#include "multigrid/cuda/rank_set_up_parts.hpp"
#include "multigrid/limits.hpp"
#include "multigrid/ranks/replication.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/thinning.hpp"
#include "multigrid/store/stored_hierarchy.hpp"

namespace trireme::multigrid {
namespace {

DeviceRows upload_rows(const CsrMatrix<double>& m, StreamRef stream) {
  Uploader uploader;
  const auto copied = [&]<class T>(const Array<T>& from) {
    ScratchBuffer<T> to(from.size(), stream);
    uploader.copy(std::span<const T>(from), to.span(), stream);
    return to;
  };
  return {m.rows, m.cols, copied(m.row_ptr), copied(m.col_idx), copied(m.values)};
}

CsrMatrix<double> copied_to_host(const DeviceCsr<double>& m, StreamRef stream) {
  Uploader uploader;
  const auto copied = [&]<class T>(DeviceSpan<const T> from) {
    Array<T> to(from.size());
    uploader.copy_back(from, std::span<T>(to), stream);
    return to;
  };
  return {m.rows, m.cols, copied(m.row_ptr), copied(m.col_idx), copied(m.values)};
}

}  // namespace

RankSetUp::Parts::Parts(std::shared_ptr<DistributedMatrix> finest,
                        const NearNullspace& near_nullspace, const Options& requested)
    : matrix(std::move(finest)), comm(matrix->comm), options(requested) {
  const Stopwatch total;
  matrix->require_32_bits();
  collectively(comm, [&] {
    check_options(options);
    check_sizes(local_rows(*matrix), near_nullspace, {.block_size = options.block_size});
    blocks = DeviceBlocks::of(*matrix).blocks;
  });
  modes = near_nullspace;
  has_modes = modes.width > 0;
  if (lies_whole(matrix->global_rows(), options.block_size, options)) {
    gather_finest();
  } else {
    add_finest();
    while (coarsen_last()) {
    }
    for (std::size_t l = 0; l < levels.size(); ++l) set_numbers(l);
    set_finest_border();
  }
  if (whole_is_next)
    collectively(comm, [&] {
      below.emplace(whole.view(), modes, options,
                    LevelsAbove{static_cast<int>(levels.size()), whole_node_size, symmetric});
    });
  modes = {};
  finish(total.seconds());
}

void RankSetUp::Parts::renew() {
  const Stopwatch total;
  seconds = {};
  collectively(comm, [&] {
    if (DeviceBlocks::of(*matrix).blocks != blocks)
      fail(ExitCode::internal, "the matrix of a multigrid hierarchy has moved in GPU memory");
  });
  if (levels.empty()) {
    take_whole(Replication(comm, matrix->row_starts).whole(*matrix)->blocks.local);
  } else {
    collectively(comm, [&] { join_finest(); });
    for (std::size_t l = 0; l < levels.size(); ++l) {
      if (levels[l]->transfer) renew_transfer(l);
      set_numbers(l);
    }
    set_finest_border();
    if (whole_is_next) gather_whole(levels.back()->transfer->columns, next_of_last);
  }
  if (below) collectively(comm, [&] { below->renew(); });
  finish(total.seconds());
}

void RankSetUp::Parts::plan(Level& level) {
  const std::int64_t size = level.node_size;
  std::vector<std::int64_t> node_starts;
  for (const std::int64_t start : level.starts) node_starts.push_back(start / size);
  level.nodes = plan_halo(comm, node_starts, level.ghost_nodes);
  const std::int64_t own = node_starts[own_rank() + 1] - node_starts[own_rank()];
  collectively(comm, [&] {
    level.columns = widened(level.nodes, own, size, size);
    level.ghosts =
        std::make_unique<DeviceGhosts>(comm, level.nodes, own, size, way_through_host, stream);
  });
}

void RankSetUp::Parts::add_finest() {
  auto level = std::make_unique<Level>();
  level->starts = matrix->row_starts;
  level->node_size = options.block_size;
  level->global_nnz = matrix->global_nnz;
  collectively(comm, [&] {
    for (const std::int64_t column : matrix->blocks.ghost_columns) {
      const auto node = static_cast<std::int32_t>(column / options.block_size);
      if (level->ghost_nodes.empty() || level->ghost_nodes.back() != node)
        level->ghost_nodes.push_back(node);
    }
  });
  plan(*level);
  levels.push_back(std::move(level));
  collectively(comm, [&] {
    join_finest();
    nodes_share =
        options.block_size > 1 && nodes_share_columns(levels[0]->a, options.block_size, stream);
  });
}

void RankSetUp::Parts::join_finest() {
  Level& level = *levels.front();
  const DeviceCsr<double> local = blocks->local().view();
  const SplitRows& split = matrix->blocks;
  level.a = local;
  if (level.ghost_nodes.empty()) return;
  const std::int32_t size = level.node_size;
  Array<std::int32_t> place(split.ghost_columns.size());
  std::int32_t node = 0;
  for (std::size_t g = 0; g < place.size(); ++g) {
    const auto column = static_cast<std::int32_t>(split.ghost_columns[g]);
    while (level.ghost_nodes[static_cast<std::size_t>(node)] != column / size) ++node;
    place[g] = static_cast<std::int32_t>(local.rows) + node * size + column % size;
  }
  const std::int64_t cols = local.rows + std::ssize(level.ghost_nodes) * size;
  level.coarse_rows = joined(local, split.ghost.view(), place, cols, stream);
  level.a = level.coarse_rows.view();
}

void RankSetUp::Parts::set_finest_border() {
  collectively(comm, [&] {
    Level& level = *levels.front();
    finest_border = border_of(level.a, level.a.rows, level.precision == Precision::mixed, stream);
    level.coarse_rows = {};
    level.a = blocks->local().view();
  });
}

void RankSetUp::Parts::gather_finest() {
  const Replication replication(comm, matrix->row_starts);
  const auto all = replication.whole(*matrix);
  modes = replication.whole(modes);
  whole_is_next = true;
  whole_node_size = options.block_size;
  take_whole(all->blocks.local);
}

void RankSetUp::Parts::take_whole(const CsrMatrix<double>& rows) {
  collectively(comm, [&] {
    if (whole.row_ptr.empty())
      whole = upload_rows(rows, stream);
    else
      Uploader().copy(std::span<const double>(rows.values), whole.values.span(), stream);
    stream.synchronize();
  });
}

void RankSetUp::Parts::gather_whole(const CoarseColumns& columns, const DeviceRows& rows) {
  const Stopwatch watch;
  CsrMatrix<double> mine;
  collectively(comm, [&] {
    const DeviceRows global =
        rows_with_global_columns(rows.view(), columns.starts.back(), columns.first(), columns.own(),
                                 levels.back()->transfer->others, stream);
    mine = copied_to_host(global.view(), stream);
  });
  take_whole(Replication(comm, columns.starts).whole(mine));
  seconds.distribution += watch.seconds();
}

bool RankSetUp::Parts::coarsen_last() {
  const int l = static_cast<int>(levels.size()) - 1;
  Level& level = *levels.back();
  const std::int64_t rows = level.global_rows();
  if (rows <= options.coarsest_rows) return false;
  if (l + 1 >= options.max_levels) return end(fmt::format("max_levels is {}", options.max_levels));
  Transfer t;
  t.smoothed = options.smoothed_prolongator;
  ScratchBuffer<double> diagonal;
  together(comm, [&] { find_aggregates(static_cast<std::size_t>(l), t, diagonal); });
  const std::int64_t coarse = t.columns.starts.back();
  if (static_cast<double>(coarse) > kShrinksTooLittle * static_cast<double>(rows))
    return end(
        fmt::format("level {} has {} rows, and the next one would have {}", l, rows, coarse));
  if (coarse == 0) return end(fmt::format("no row of level {} has a strong connection", l));
  level.transfer = std::move(t);
  Transfer& transfer = *level.transfer;
  DeviceRows next;
  std::int64_t nnz = 0;
  const auto make = [&] {
    together(comm, [&] { next = made_transfer(static_cast<std::size_t>(l), diagonal); });
    nnz = sum_over_ranks(comm, next.nnz());
  };
  make();
  const std::int64_t most =
      transfer.smoothed ? most_nonzeros(options.fill, level.global_nnz) : std::int64_t{INT64_MAX};
  const auto fits = [&] { return nnz <= most; };
  if (!fits() && !thin_until(static_cast<std::size_t>(l), make, fits)) {
    transfer = {};  // before memory is taken for the new one
    transfer.smoothed = false;
    together(comm, [&] { find_aggregates(static_cast<std::size_t>(l), transfer, diagonal); });
    make();
  }
  x = {};
  modes = std::move(coarse_modes);
  std::string words = prolongator_words({transfer.smoothed, transfer.thinned}, options);
  if (lies_whole(coarse, transfer.tentative.width, options)) {
    whole_is_next = true;
    whole_node_size = transfer.tentative.width;
    whole_prolongator = std::move(words);
    next_of_last = std::move(next);
    gather_whole(transfer.columns, next_of_last);
    modes = Replication(comm, transfer.columns.starts).whole(modes);
    return false;
  }
  auto below_it = std::make_unique<Level>();
  below_it->coarse_rows = std::move(next);
  below_it->a = below_it->coarse_rows.view();
  below_it->starts = transfer.columns.starts;
  below_it->node_size = transfer.tentative.width;
  below_it->global_nnz = nnz;
  below_it->prolongator = std::move(words);
  for (std::size_t k = 0; k < transfer.others.size();
       k += static_cast<std::size_t>(below_it->node_size))
    below_it->ghost_nodes.push_back(transfer.others[k] / below_it->node_size);
  plan(*below_it);
  levels.push_back(std::move(below_it));
  return true;
}

template <class Make, class Fits>
bool RankSetUp::Parts::thin_until(std::size_t l, const Make& make, const Fits& fits) {
  Level& level = *levels[l];
  Transfer& t = *level.transfer;
  const std::int32_t run = t.tentative.width;
  double runs = 0;
  together(comm, [&] {
    runs = level.ghosts->sum(runs_of_terms(level.a, of_all(level).view(), run, stream));
  });
  return find_thinning(runs, level.global_nnz, [&](double part) {
    double dropped = 0;
    together(comm, [&] {
      dropped = level.ghosts->sum(
          static_cast<double>(thin(level.a, level.node_size, t.aggregate_of_node.view(),
                                   level.p.view(), run, part, t.strong, stream)));
    });
    if (dropped == 0) return false;
    t.thinned = part;
    make();
    return fits();
  });
}

void RankSetUp::Parts::set_numbers(std::size_t l) {
  Stopwatch watch;
  Level& level = *levels[l];
  const bool coarsest = !level.transfer;
  together(comm, [&] {
    const RankOfRows rank = rank_of_rows(l);
    level.precision = agreed_precision(level, level.a, true);
    if (!coarsest) level.transfer_precision = agreed_precision(level, level.p.view(), false);
    seconds.kernels += lap(watch);
    if (l == 0) symmetric = is_symmetric(level.a, stream, rank, level.node_size);
    set_smoother(level, options,
                 {.number = static_cast<int>(l),
                  .node_size = level.node_size,
                  .coarsest = coarsest,
                  .symmetric = symmetric,
                  .radius = coarsest ? 0 : level.transfer->radius},
                 stream, rank);
  });
  seconds.smoothers += lap(watch);
}

Precision RankSetUp::Parts::agreed_precision(const Level& level, const DeviceCsr<double>& a,
                                             bool rows) const {
  const bool fits = options.precision == Precision::mixed && fits_fp32(a, rows, stream);
  return level.ghosts->max(fits ? 0 : 1) > 0 ? Precision::full : Precision::mixed;
}

void RankSetUp::Parts::finish(double total) {
  if (below) {
    const SetUpFacts& of_whole = below->seconds();
    seconds.strength += of_whole.strength;
    seconds.aggregation += of_whole.aggregation;
    seconds.prolongator += of_whole.prolongator;
    seconds.products += of_whole.products;
    seconds.kernels += of_whole.kernels;
    seconds.smoothers += of_whole.smoothers;
    seconds.coarsest += of_whole.coarsest;
    if (levels.empty()) symmetric = below->symmetric();
    if (remark.empty()) remark = below->remark();
  }
  seconds.total = total;
  double* parts[] = {&seconds.strength,  &seconds.aggregation,  &seconds.prolongator,
                     &seconds.products,  &seconds.distribution, &seconds.kernels,
                     &seconds.smoothers, &seconds.coarsest,     &seconds.total};
  for (double* part : parts) *part = max_over_ranks(comm, *part);
}

RankSetUp::RankSetUp(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace& modes,
                     const Options& options)
    : parts_(std::make_unique<Parts>(std::move(matrix), modes, options)) {}
RankSetUp::~RankSetUp() = default;

void RankSetUp::renew() { parts_->renew(); }
const DistributedMatrix& RankSetUp::matrix() const { return *parts_->matrix; }

HierarchyFacts RankSetUp::facts() const {
  const Parts& p = *parts_;
  HierarchyFacts facts{.options = p.options, .levels = {}, .set_up = p.seconds, .remark = p.remark};
  facts.smoother = chosen_smoother(
      p.options, {.node_size = p.options.block_size, .coarsest = false, .symmetric = p.symmetric});
  if (p.levels.empty() && p.below) facts.smoother = p.below->smoother();
  for (const auto& level : p.levels) {
    LevelFacts& fact = facts.levels.emplace_back();
    fact.rows = level->global_rows();
    fact.nnz = level->global_nnz;
    fact.precision = level->precision;
    fact.spectral_radius = level->spectral_radius;
    fact.prolongator = level->prolongator;
  }
  if (!p.below) return facts;
  for (const DeviceLevel& level : p.below->levels()) {
    LevelFacts& fact = facts.levels.emplace_back();
    fact.rows = level.a.rows;
    fact.nnz = level.a.nnz;
    fact.precision = level.precision;
    fact.replicated = true;
    fact.spectral_radius = level.spectral_radius;
    fact.prolongator = level.prolongator;
    if (level.solved) fact.kernel = "dense inverse";
  }
  facts.levels[p.levels.size()].prolongator = p.whole_prolongator;
  return facts;
}

}  // namespace trireme::multigrid
