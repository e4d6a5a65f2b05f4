// SPDX-License-Identifier: BSD-3-Clause
// Joins the levels of a rank with their borders.
#include "multigrid/cuda/rank_hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/stopwatch.hpp"
#include "multigrid/cuda/border_kernels.hpp"
#include "multigrid/cuda/rank_borders.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

std::vector<HostLevelParts> all_levels(const std::vector<RankLevel>& distributed,
                                       const std::vector<HostLevelParts>& whole) {
  std::vector<HostLevelParts> all;
  for (const RankLevel& level : distributed) all.push_back(level.parts);
  all.insert(all.end(), whole.begin(), whole.end());
  return all;
}

// The rule of CycleVectors for the levels of one rank.
bool suit_fp32(const std::vector<HostLevelParts>& levels) {
  constexpr double kLeast = 1e-25, kMost = 1e25;
  const auto any_outside = [](std::span<const double> numbers, double least) {
    return std::ranges::any_of(numbers, [least](double number) {
      const double size = std::abs(number);
      return size > kMost || (size > 0 && size < least);
    });
  };
  for (const HostLevelParts& level : levels) {
    const bool smoothed = level.kind == CycleLevel::Kind::smoothed;
    if (smoothed && level.precision != Precision::mixed) return false;
    if (level.p.rows > 0 && level.transfer_precision != Precision::mixed) return false;
    if (any_outside(level.inverse, kLeast) || any_outside(level.dense_inverse, 0)) return false;
  }
  return true;
}

// The same on all ranks. Collective.
CycleVectors vectors_for(MPI_Comm comm, const std::vector<HostLevelParts>& levels) {
  const bool all_suit = sum_over_ranks(comm, suit_fp32(levels) ? 0 : 1) == 0;
  return all_suit ? CycleVectors::fp32 : CycleVectors::fp64;
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
  const std::vector<HostLevelParts> all = all_levels(levels, parts.whole);
  if (borders_) options_.vectors = vectors_for(comm_, all);
  collectively(comm_, [&] {
    cycle_ = std::make_unique<CudaHierarchy>(all, host.options().cycle, options_);
  });
  set_facts(host, watch.seconds());
}

RankHierarchy::~RankHierarchy() = default;

void RankHierarchy::renew(const Hierarchy& host) {
  const Stopwatch watch;
  const HostRankParts parts = host.rank_parts();
  const std::vector<RankLevel> levels = rank_levels(parts);
  const std::vector<HostLevelParts> all = all_levels(levels, parts.whole);
  const CycleVectors before = options_.vectors;
  if (borders_) {
    borders_->renew(levels);
    options_.vectors = vectors_for(comm_, all);
  }
  collectively(comm_, [&] {
    if (options_.vectors == before && cycle_->renew(all)) return;
    cycle_.reset();  // before memory is taken for the new one
    cycle_ = std::make_unique<CudaHierarchy>(all, host.options().cycle, options_);
  });
  set_facts(host, watch.seconds());
}

void RankHierarchy::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream,
                            const solvers::LoopHints& hints) {
  if (borders_) return cycle_->enqueue(r, z, stream, hints);
  gather_terms<double>({.rows = static_cast<std::int64_t>(whole_r_.size()),
                        .terms = gathering_.terms,
                        .row_ptr = sum_row_ptr_.data(),
                        .sources = sources_.data()},
                       r, whole_r_.data(), *gather_, stream);
  cycle_->enqueue(whole_r_.view(), whole_z_.span(), stream, hints);
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
