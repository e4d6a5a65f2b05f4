// SPDX-License-Identifier: BSD-3-Clause
// The face of a hierarchy: one cycle, and what reports ask.
#include "multigrid/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "multigrid/cycle/host_cycle.hpp"
#include "multigrid/hierarchy_parts.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

// Views of the arrays of a level: all of it, or what lies on this rank.
HostLevelParts parts_of(const Level& level) {
  HostLevelParts part;
  part.kind = level.in_cycle.kind;
  part.rows = level.matrix->local_rows();
  if (part.kind == CycleLevel::Kind::solved) {
    part.dense_inverse = level.inverse.values;
    return part;
  }
  part.precision = level.precision;
  part.smoothing = level.in_cycle.smoothing;
  part.block_size = level.in_cycle.block_size;
  part.a = level.matrix->blocks.local.view();
  part.inverse = level.smoother.inverse;
  if (!level.transfer) return part;
  const Transfer& transfer = *level.transfer;
  part.transfer_precision = transfer.precision;
  part.p = transfer.coarsening.p.view();
  part.restriction = transfer.restriction().view();
  return part;
}

}  // namespace

Hierarchy::Hierarchy(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace& modes,
                     const Options& options)
    : parts_(std::make_unique<Parts>(std::move(matrix), modes, options)) {}

Hierarchy::Hierarchy(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

std::unique_ptr<Hierarchy> Hierarchy::from_stored(std::shared_ptr<DistributedMatrix> matrix,
                                                  StoredHierarchy&& stored,
                                                  const Options& options) {
  auto parts = std::make_unique<Parts>(std::move(matrix), std::move(stored), options);
  return std::unique_ptr<Hierarchy>(new Hierarchy(std::move(parts)));
}

Hierarchy::~Hierarchy() = default;

void Hierarchy::renew() { parts_->renew(); }

void Hierarchy::apply(std::span<const double> r, std::span<double> z) { run(false, r, z); }

void Hierarchy::apply_transposed(std::span<const double> r, std::span<double> z) {
  const bool solved = parts_->levels.front()->in_cycle.kind == CycleLevel::Kind::solved;
  run(solved || !parts_->symmetric, r, z);  // where it is solved, nobody has asked for the symmetry
}

void Hierarchy::run(bool transposed, std::span<const double> r, std::span<double> z) {
  Level& finest = *parts_->levels.front();
  HostCycle executor(parts_->levels, transposed);
  if (!finest.replication) {
    finest.in_cycle.b = r.data();
    finest.in_cycle.x = z.data();
    return cycle(executor, parts_->options.cycle, 0, true);
  }
  const Replication& replication = *finest.replication;
  std::copy(r.begin(), r.end(), replication.part(std::span(finest.b)).begin());
  replication.gather(finest.b);
  cycle(executor, parts_->options.cycle, 0, true);
  const std::span<const double> mine = replication.part(std::span(finest.x));
  std::copy(mine.begin(), mine.end(), z.begin());
}

const Options& Hierarchy::options() const { return parts_->options; }
Smoother Hierarchy::smoother() const {
  const Level& finest = *parts_->levels.front();
  return finest.op ? finest.smoother.kind : parts_->options.smoother;
}
const std::vector<LevelFacts>& Hierarchy::levels() const { return parts_->facts; }
const SetUpFacts& Hierarchy::set_up() const { return parts_->set_up; }

double Hierarchy::operator_complexity() const {
  return multigrid::operator_complexity(parts_->facts);
}
double Hierarchy::grid_complexity() const { return multigrid::grid_complexity(parts_->facts); }

HierarchyFacts Hierarchy::facts() const {
  return {.options = options(),
          .smoother = smoother(),
          .levels = levels(),
          .set_up = set_up(),
          .bytes = bytes(),
          .remark = remark(),
          .read = parts_->read,
          .kept = parts_->kept};
}

std::int64_t Hierarchy::bytes() const { return parts_->bytes(); }
const std::string& Hierarchy::remark() const { return parts_->remark; }

Array<std::byte> Hierarchy::stored() const { return parts_->stored(); }
std::int64_t Hierarchy::stored_bytes() const { return parts_->stored_bytes(); }

void Hierarchy::note_read(double seconds, const ReadFacts& read) {
  parts_->set_up.read += seconds;
  parts_->set_up.total += seconds;
  parts_->read = read;
  parts_->read->saved = std::max(0.0, read.building - parts_->set_up.total);
}
void Hierarchy::note_kept(const KeptFacts& kept) { parts_->kept = kept; }

std::vector<HostLevelParts> Hierarchy::parts() const {
  if (size_of(parts_->comm) > 1)
    fail(ExitCode::internal, "the parts of a hierarchy are asked for on several ranks");
  std::vector<HostLevelParts> parts;
  for (const auto& level : parts_->levels) parts.push_back(parts_of(*level));
  return parts;
}

HostRankParts Hierarchy::rank_parts() const {
  HostRankParts parts{.comm = parts_->comm, .row_starts{}, .distributed{}, .whole{}};
  const Level& finest = *parts_->levels.front();
  parts.row_starts = (finest.parts ? finest.parts : finest.matrix)->row_starts;
  for (const auto& level : parts_->levels) {
    const bool whole = level->replication || size_of(level->matrix->comm) < size_of(parts.comm);
    if (whole) {
      parts.whole.push_back(parts_of(*level));
      continue;
    }
    HostRankLevel& part = parts.distributed.emplace_back();
    part.parts = parts_of(*level);
    part.ghost = &level->matrix->blocks.ghost;
    part.halo = &level->matrix->halo;
    if (level->transfer) part.columns = &level->transfer->coarsening.columns;
  }
  return parts;
}

}  // namespace trireme::multigrid
