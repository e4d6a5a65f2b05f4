// SPDX-License-Identifier: BSD-3-Clause
// Joins set-up and cycle, and describes them.
#include "multigrid/cuda/device_hierarchy.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "multigrid/cuda/level_parts_of.hpp"

namespace trireme::multigrid {
namespace {

std::vector<LevelFacts> levels_of(std::span<const DeviceLevel> levels) {
  std::vector<LevelFacts> facts;
  for (const DeviceLevel& level : levels) {
    LevelFacts& fact = facts.emplace_back();
    fact.rows = level.a.rows;
    fact.nnz = level.a.nnz;
    fact.precision = level.precision;
    fact.spectral_radius = level.spectral_radius;
    fact.prolongator = level.prolongator;
    if (level.solved) fact.kernel = "dense inverse";
  }
  return facts;
}

}  // namespace

DeviceHierarchy::DeviceHierarchy(std::shared_ptr<DistributedMatrix> matrix,
                                 const NearNullspace& modes, const Options& options)
    : matrix_(std::move(matrix)), options_(options) {
  const Stopwatch total;
  blocks_ = DeviceBlocks::of(*matrix_).blocks;
  const double upload = total.seconds();
  set_up_.emplace(blocks_->local().view(), modes, options);
  set_cycle(upload);
  facts_.set_up.total = total.seconds();
}

DeviceHierarchy::DeviceHierarchy(const Hierarchy& host) : options_(host.options()) { renew(host); }

void DeviceHierarchy::renew() {
  const Stopwatch total;
  // The arrays to which the levels refer are those of `blocks_`.
  if (const auto now = DeviceBlocks::of(*matrix_).blocks; now != blocks_)
    fail(ExitCode::internal, "the matrix of a multigrid hierarchy has moved in GPU memory");
  const double upload = total.seconds();
  set_up_->renew();
  set_cycle(upload);
  facts_.set_up.total = total.seconds();
}

void DeviceHierarchy::renew(const Hierarchy& host) {
  const Stopwatch watch;
  const std::vector<HostLevelParts> parts = host.parts();
  if (!cycle_ || !cycle_->renew(parts)) {
    cycle_.reset();  // before memory is taken for the new one
    cycle_ = std::make_unique<CudaHierarchy>(parts, options_.cycle);
  }
  facts_ = host.facts();
  facts_.bytes = cycle_->bytes();
  facts_.set_up.kernels += watch.seconds();
  facts_.set_up.total += watch.seconds();
}

// Brings the cycle to the levels of set_up_, and writes the facts.
void DeviceHierarchy::set_cycle(double upload_seconds) {
  const Stopwatch watch;
  const std::vector<DeviceLevelParts> parts = level_parts_of(set_up_->levels());
  if (!cycle_ || !cycle_->renew(parts)) {
    cycle_.reset();  // before memory is taken for the new one
    cycle_ = std::make_unique<CudaHierarchy>(parts, options_.cycle);
  }
  const double layouts = watch.seconds();
  facts_ = {.options = options_,
            .smoother = set_up_->smoother(),
            .levels = levels_of(set_up_->levels()),
            .set_up = set_up_->seconds(),
            .bytes = set_up_->bytes() + cycle_->bytes(),
            .remark = set_up_->remark()};
  facts_.set_up.distribution += upload_seconds;
  facts_.set_up.kernels += layouts;
}

HierarchyFacts DeviceHierarchy::facts() const {
  HierarchyFacts facts = facts_;
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    const CudaLevelFacts& stored = cycle_->levels()[l];
    if (stored.lanes_of_a == 0) continue;
    facts.levels[l].kernel = fmt::format("{} {} per 4 rows{}", stored.lanes_of_a,
                                         stored.lanes_of_a == 1 ? "lane" : "lanes",
                                         stored.stored_of_a == StoredValues::half ? ", FP16" : "");
    facts.levels[l].product_us = cycle_->measure_product_us(static_cast<int>(l), kMeasuredProducts);
  }
  return facts;
}

}  // namespace trireme::multigrid
