// SPDX-License-Identifier: BSD-3-Clause
// Which hierarchy is made where, and when.
#include "multigrid/operation.hpp"

#include <utility>

#include "base/error.hpp"
#include "multigrid/cuda/device_forecast.hpp"
#include "multigrid/set_up/node_size.hpp"
#include "multigrid/store/find_or_build.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

void MultigridOperation::set_place(const std::optional<ExchangeRequest>& exchange) {
  for_device_ = exchange.has_value();
  if (exchange) exchange_ = *exchange;
}

bool MultigridOperation::on_several_ranks() const { return size_of(matrix_->comm) > 1; }

Options MultigridOperation::for_place(const Options& options) const {
  Options wanted = options;
  if (for_device_ && on_several_ranks()) {
    wanted.replicated_rows = kWholeRowsOnGpus;
    wanted.counts_unknowns = true;
  }
  return wanted;
}

bool MultigridOperation::is_built_with(const Options& options) const {
  return is_set_up() && for_place(options) == asked_;
}

void MultigridOperation::build(std::shared_ptr<DistributedMatrix> matrix, GiveModes modes,
                               const Options& options) {
  forget_levels();
  matrix_ = std::move(matrix);
  modes_ = std::move(modes);
  asked_ = for_place(options);
  built_ = asked_;
  update();
  ++builds_;
}

void MultigridOperation::renew() {
  require_set_up();
  update();
  ++renewals_;
}

void MultigridOperation::update() {
  ++version_;
  try {
    if (for_device_)
      update_on_device();
    else
      update_on_host();
  } catch (...) {
    forget_levels();
    throw;
  }
}

// The modes of a new hierarchy, for whose options it finds the nodes that nobody has described.
NearNullspace MultigridOperation::modes_of_nodes() {
  NearNullspace modes = modes_();
  if (built_.block_size == 1 && modes.width == 0) built_.block_size = find_node_size(*matrix_);
  return modes;
}

// An error leaves no half of a hierarchy.
void MultigridOperation::update_on_host() {
  if (hierarchy_ && host_version_ == version_) return;
  if (auto kept = std::exchange(hierarchy_, nullptr)) {
    kept->renew();
    hierarchy_ = std::move(kept);
  } else {
    const NearNullspace modes = modes_of_nodes();
    hierarchy_ = store_ && builds_ == 0 ? find_or_build(store_, matrix_, modes, built_)
                                        : std::make_unique<Hierarchy>(matrix_, modes, built_);
  }
  host_version_ = version_;
}

void MultigridOperation::update_on_device() {
  if ((on_device_ || on_ranks_) && device_version_ == version_) return;
  if (on_several_ranks())
    update_on_ranks();
  else
    update_on_one_device();
  device_version_ = version_;
}

// Likewise. The hosts build the levels where a GPU has no memory for the set-up.
void MultigridOperation::update_on_ranks() {
  const auto exchange = [this](MPI_Comm comm, const HaloPlan& halo) {
    return make_gpu_exchange(comm, halo, exchange_);
  };
  auto kept = std::exchange(on_ranks_, nullptr);
  if (kept && !kept->built_on_host()) {
    kept->renew();
  } else if (kept) {
    update_on_host();
    kept->renew(*hierarchy_);
  } else if (const NearNullspace modes = modes_of_nodes();
             have_room_for_set_up(*matrix_, modes.width, built_)) {
    kept = std::make_unique<RankHierarchy>(matrix_, modes, built_, exchange);
  } else {
    update_on_host();
    kept = std::make_unique<RankHierarchy>(*hierarchy_, exchange);
  }
  on_ranks_ = std::move(kept);
}

// Likewise. The host builds the levels where the GPU has no memory for the set-up.
void MultigridOperation::update_on_one_device() {
  auto kept = std::exchange(on_device_, nullptr);
  if (kept && !kept->built_on_host()) {
    kept->renew();
  } else if (kept) {
    update_on_host();
    kept->renew(*hierarchy_);
  } else if (const NearNullspace modes = modes_of_nodes();
             has_room_for_set_up(*matrix_, modes.width, built_)) {
    kept = std::make_unique<DeviceHierarchy>(matrix_, modes, built_);
  } else {
    update_on_host();
    kept = std::make_unique<DeviceHierarchy>(*hierarchy_);
  }
  on_device_ = std::move(kept);
}

void MultigridOperation::require_set_up() const {
  if (!is_set_up()) fail(ExitCode::internal, "multigrid is applied before it is set up");
}

void MultigridOperation::apply(std::span<const double> r, std::span<double> z) {
  require_set_up();
  update_on_host();
  hierarchy_->apply(r, z);
}

void MultigridOperation::apply_transposed(std::span<const double> r, std::span<double> z) {
  require_set_up();
  update_on_host();
  hierarchy_->apply_transposed(r, z);
}

bool MultigridOperation::prepare_on_device() {
  require_set_up();
  update_on_device();
  return true;
}

void MultigridOperation::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z,
                                 StreamRef stream) {
  enqueue_in_loop(r, z, {}, stream);
}

void MultigridOperation::check_device() const {
  if (on_ranks_) on_ranks_->check();
}

void MultigridOperation::enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                                         const solvers::LoopHints& hints, StreamRef stream) {
  if (on_ranks_)
    on_ranks_->enqueue(r, z, stream, hints);
  else
    on_device_->cycle().enqueue(r, z, stream, hints);
}

std::optional<HierarchyFacts> MultigridOperation::facts() const {
  if (on_device_ && device_version_ == version_) return on_device_->facts();
  if (on_ranks_ && device_version_ == version_) return on_ranks_->facts();
  if (hierarchy_) return hierarchy_->facts();
  return std::nullopt;
}

void MultigridOperation::forget_levels() {
  on_device_.reset();
  on_ranks_.reset();
  hierarchy_.reset();
  matrix_.reset();
  modes_ = nullptr;
}

}  // namespace trireme::multigrid
