// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy to bytes, and from what was read of them.
#include <deque>
#include <random>
#include <utility>

#include "base/stopwatch.hpp"
#include "distributed/joined_rows.hpp"
#include "multigrid/forecast.hpp"
#include "multigrid/hierarchy_parts.hpp"
#include "multigrid/store/stored_hierarchy.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

std::int64_t number_of_build(MPI_Comm comm) {
  std::int64_t number = rank_of(comm) == 0 ? static_cast<std::int64_t>(std::random_device()()) : 0;
  MPI_Bcast(&number, 1, MPI_INT64_T, 0, comm);
  return number;
}

}  // namespace

Array<std::byte> Hierarchy::Parts::stored() const {
  PackedWriter writer;
  writer.number(number_of_build(comm));
  writer.real(set_up.total);
  writer.number(std::ssize(levels));
  writer.number(symmetric ? 1 : 0);
  writer.text(remark);
  std::deque<CsrMatrix<double>> joined;  // lives until the bytes are copied
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Level& level = *levels[l];
    writer.real(level.smoother.spectral_radius);
    writer.number(level.transfer ? 1 : 0);
    if (!level.transfer) continue;
    const Level& next = *levels[l + 1];
    const DistributedMatrix& coarse = next.parts ? *next.parts : *next.matrix;
    const bool whole = size_of(coarse.comm) == 1;
    if (!whole) joined.push_back(joined_rows(coarse));
    write(writer, *level.transfer, whole ? coarse.blocks.local.view() : joined.back().view());
  }
  Array<std::byte> bytes;
  collectively(comm, [&] { bytes = writer.bytes(); });
  return bytes;
}

std::int64_t Hierarchy::Parts::stored_bytes() const {
  constexpr std::int64_t kEntry = sizeof(double) + sizeof(std::int32_t);
  std::int64_t sum = 0;
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const Coarsening& c = levels[l]->transfer->coarsening;
    const Level& next = *levels[l + 1];
    sum += (next.parts ? *next.parts : *next.matrix).csr_bytes() + kEntry * c.p.nnz() +
           static_cast<std::int64_t>(sizeof(std::int32_t)) *
               (std::ssize(c.p.row_ptr) + std::ssize(c.aggregate_of_node)) +
           static_cast<std::int64_t>(sizeof(double)) * std::ssize(c.tentative.values) +
           std::ssize(c.strong);
  }
  return sum;
}

Hierarchy::Parts::Parts(std::shared_ptr<DistributedMatrix> finest, StoredHierarchy&& from,
                        const Options& requested)
    : options(requested),
      comm(finest->comm),
      remark(std::move(from.remark)),
      symmetric(from.symmetric) {
  const Stopwatch watch;
  require_memory_of(comm, *finest, 0, options);
  NearNullspace none;
  add_level(std::move(finest), none, options.block_size);
  for (StoredLevel& stored : from.levels) {
    Level& level = *levels.back();
    level.known_radius = stored.spectral_radius;
    if (!stored.transfer) break;
    StoredTransfer& next = *stored.transfer;
    level.transfer = transfer_from(level, next);
    const Transfer& transfer = *level.transfer;
    const Stopwatch distribution;
    const CoarseColumns& columns = transfer.coarsening.columns;
    RowSlab slab{.global_rows = columns.starts.back(),
                 .global_cols = columns.starts.back(),
                 .global_nnz = sum_over_ranks(columns.comm, next.coarse.nnz()),
                 .first_row = columns.first(),
                 .local = std::move(next.coarse)};
    auto coarse = distribute(columns.comm, std::move(slab), columns.starts);
    set_up.distribution += distribution.seconds();
    add_level(std::move(coarse), none, transfer.coarsening.coarse_block_size);
  }
  for (int l = 0; l < static_cast<int>(levels.size()); ++l) set_numbers(l, true);
  finish(watch.seconds());
}

// Takes over what was read. A transfer has P^T besides, and what renew() needs is made there.
Transfer Hierarchy::Parts::transfer_from(const Level& level, StoredTransfer& from) {
  Transfer t;
  const Stopwatch watch;
  t.coarsening = std::move(from.coarsening);
  t.coarsening.columns =
      coarse_columns(comm_of(level), std::move(from.row_starts), std::move(from.ghosts));
  if (size_of(comm_of(level)) > 1) t.vector = std::make_unique<CoarseVector>(t.coarsening.columns);
  collectively(comm, [&] { t.read_restriction = transpose(t.coarsening.p.view()); });
  set_up.products += watch.seconds();
  return t;
}

// Makes what a level that was read lacks for new values.
void Hierarchy::Parts::complete(Level& level) {
  Transfer& t = *level.transfer;
  if (t.rows) return;
  const Coarsening& c = t.coarsening;
  t.rows.emplace(comm_of(level), *level.matrix, c.rules.block_size);
  collectively(comm, [&] {
    const LocalRows rows = t.rows->view();
    const std::int64_t nodes = (c.rules.smoothed ? rows.local.cols : rows.local.rows);
    if (std::ssize(c.aggregate_of_node) * c.rules.block_size < nodes ||
        (!c.strong.empty() && std::ssize(c.strong) != rows.local.nnz()))
      fail(ExitCode::internal, "a level of multigrid that was read does not fit to its matrix");
  });
  t.prolong.reset();
  t.restrict_to.reset();
  t.read_restriction = {};
}

}  // namespace trireme::multigrid
