// SPDX-License-Identifier: BSD-3-Clause
// Joins the levels of a rank with their borders.
#include "multigrid/cuda/rank_hierarchy.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "base/stopwatch.hpp"
#include "multigrid/cuda/border_kernels.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

constexpr int kMeasuredProducts = 5;

std::vector<HostLevelParts> all_levels(const std::vector<RankLevel>& distributed,
                                       const std::vector<HostLevelParts>& whole) {
  std::vector<HostLevelParts> all;
  for (const RankLevel& level : distributed) all.push_back(level.parts);
  all.insert(all.end(), whole.begin(), whole.end());
  return all;
}

}  // namespace

RankHierarchy::RankHierarchy(const Hierarchy& host, const MakeExchange& make_exchange,
                             const CudaCycleOptions& options)
    : options_(options) {
  const Stopwatch watch;
  const HostRankParts parts = host.rank_parts();
  comm_ = parts.comm;
  const std::vector<RankLevel> levels = rank_levels(parts);
  if (!levels.empty()) {
    borders_ = std::make_unique<RankBorders>(comm_, levels, make_exchange);
    options_.borders = borders_.get();
  } else {
    gathering_ = gathering(comm_, parts.row_starts, {});
    first_ = parts.row_starts[rank_of(comm_)];
    collectively(comm_, [&] {
      sum_row_ptr_ = to_device(std::span<const std::int32_t>(gathering_.row_ptr), stream_);
      sources_ = to_device(std::span<const std::int32_t>(gathering_.sources), stream_);
      whole_r_ = DeviceBuffer<double>(parts.row_starts.back(), stream_);
      whole_z_ = DeviceBuffer<double>(parts.row_starts.back(), stream_);
      stream_.synchronize();
    });
    gather_ = make_exchange(comm_, gathering_.plan);
  }
  collectively(comm_, [&] {
    cycle_ = std::make_unique<CudaHierarchy>(all_levels(levels, parts.whole), host.options().cycle,
                                             options_);
  });
  set_facts(host, watch.seconds());
}

void RankHierarchy::renew(const Hierarchy& host) {
  const Stopwatch watch;
  const HostRankParts parts = host.rank_parts();
  const std::vector<RankLevel> levels = rank_levels(parts);
  if (borders_) borders_->renew(levels);
  collectively(comm_, [&] {
    const std::vector<HostLevelParts> all = all_levels(levels, parts.whole);
    if (cycle_->renew(all)) return;
    cycle_.reset();  // before memory is taken for the new one
    cycle_ = std::make_unique<CudaHierarchy>(all, host.options().cycle, options_);
  });
  set_facts(host, watch.seconds());
}

void RankHierarchy::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) {
  if (borders_) return cycle_->enqueue(r, z, stream);
  gather_terms({.rows = static_cast<std::int64_t>(whole_r_.size()),
                .terms = gathering_.terms,
                .row_ptr = sum_row_ptr_.data(),
                .sources = sources_.data()},
               r, whole_r_.data(), *gather_, stream);
  cycle_->enqueue(whole_r_.view(), whole_z_.span(), stream);
  copy_rows(whole_z_.data() + first_, z.data(), static_cast<std::int64_t>(z.size()), stream);
}

void RankHierarchy::check() const {
  if (borders_) borders_->check();
  if (gather_) gather_->check();
}

// Collective.
void RankHierarchy::set_facts(const Hierarchy& host, double seconds) {
  facts_ = host.facts();
  facts_.bytes = cycle_->bytes() + (borders_ ? borders_->bytes() : 0);
  seconds = max_over_ranks(comm_, seconds);
  facts_.set_up.kernels += seconds;
  facts_.set_up.total += seconds;
  for (std::size_t l = 0; l < facts_.levels.size(); ++l) {
    const CudaLevelFacts& stored = cycle_->levels()[l];
    LevelFacts& fact = facts_.levels[l];
    const auto lanes = static_cast<int>(max_over_ranks(comm_, stored.lanes_of_a));
    if (lanes > 0) fact.kernel = fmt::format("{} {} per row", lanes, lanes == 1 ? "lane" : "lanes");
    double us = 0;
    collectively(comm_,
                 [&] { us = cycle_->measure_product_us(static_cast<int>(l), kMeasuredProducts); });
    fact.product_us = max_over_ranks(comm_, us);
  }
}

}  // namespace trireme::multigrid
