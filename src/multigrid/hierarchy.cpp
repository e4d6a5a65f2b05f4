// SPDX-License-Identifier: BSD-3-Clause
// The face of a hierarchy: one cycle, and what reports ask.
#include "multigrid/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "multigrid/hierarchy_parts.hpp"
#include "multigrid/host_cycle.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

Hierarchy::Hierarchy(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace& modes,
                     const Options& options)
    : parts_(std::make_unique<Parts>(std::move(matrix), modes, options)) {}

Hierarchy::~Hierarchy() = default;

void Hierarchy::renew() { parts_->renew(); }

void Hierarchy::apply(std::span<const double> r, std::span<double> z) {
  Level& finest = *parts_->levels.front();
  HostCycle executor(parts_->levels);
  if (!finest.replication) {
    finest.text.b = r.data();
    finest.text.x = z.data();
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
          .remark = remark()};
}

std::int64_t Hierarchy::bytes() const { return parts_->bytes(); }
const std::string& Hierarchy::remark() const { return parts_->remark; }

std::vector<HostLevelParts> Hierarchy::parts() const {
  if (size_of(parts_->comm) > 1)
    fail(ExitCode::internal, "the parts of a hierarchy are asked for on several ranks");
  std::vector<HostLevelParts> parts;
  for (const auto& level : parts_->levels) {
    HostLevelParts& part = parts.emplace_back();
    part.kind = level->text.kind;
    part.rows = level->matrix->local_rows();
    if (part.kind == CycleLevel::Kind::solved) {
      part.dense_inverse = level->inverse.values;
      continue;
    }
    part.precision = level->precision;
    part.smoothing = level->text.smoothing;
    part.block_size = level->text.block_size;
    part.a = level->matrix->blocks.local.view();
    part.inverse = level->smoother.inverse;
    if (!level->transfer) continue;
    const Transfer& transfer = *level->transfer;
    part.transfer_precision = transfer.precision;
    part.p = transfer.coarsening.p.view();
    part.restriction = transfer.restriction().view();
  }
  return parts;
}

}  // namespace trireme::multigrid
