// SPDX-License-Identifier: BSD-3-Clause
// Joins the levels of a rank with their borders.
#include "multigrid/cuda/rank_hierarchy.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "base/stopwatch.hpp"
#include "multigrid/cuda/border_kernels.hpp"
#include "multigrid/cuda/cycle_vectors.hpp"
#include "multigrid/cuda/rank_borders.hpp"
#include "multigrid/cuda/rank_set_up.hpp"
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

// The same on all ranks. Collective.
template <class LevelParts>
CycleVectors vectors_for(MPI_Comm comm, const std::vector<LevelParts>& levels, StreamRef stream) {
  bool serves = false;
  collectively(comm, [&] { serves = serves_in_fp32(levels, stream); });
  return any_rank(comm, !serves) ? CycleVectors::fp64 : CycleVectors::fp32;
}

}  // namespace

RankHierarchy::RankHierarchy(const Hierarchy& host, const MakeExchange& make_exchange,
                             const CudaCycleOptions& options)
    : options_(options) {
  const Stopwatch watch;
  const HostRankParts parts = host.rank_parts();
  comm_ = parts.comm;
  const std::vector<RankLevel> levels = rank_levels(parts);
  connect(levels, parts.row_starts, make_exchange);
  make_cycle(all_levels(levels, parts.whole), host.options().cycle);
  set_facts(host.facts(), watch.seconds());
}

RankHierarchy::RankHierarchy(const std::shared_ptr<DistributedMatrix>& matrix,
                             const NearNullspace& modes, const Options& options,
                             const MakeExchange& make_exchange, const CudaCycleOptions& in_cycle)
    : comm_(matrix->comm), options_(in_cycle) {
  set_up_ = std::make_unique<RankSetUp>(matrix, modes, options);
  const Stopwatch watch;
  const RankSetUp::ForCycle made = set_up_->for_cycle();
  connect(made.borders, set_up_->matrix().row_starts, make_exchange);
  make_cycle(made.levels, options.cycle);
  set_facts(set_up_->facts(), watch.seconds());
}

// Makes the exchanges of the distributed levels, or of the finest vectors where there are none.
void RankHierarchy::connect(const std::vector<RankLevel>& distributed,
                            const std::vector<std::int64_t>& row_starts,
                            const MakeExchange& make_exchange) {
  if (!distributed.empty()) {
    borders_ = std::make_unique<RankBorders>(comm_, distributed, make_exchange);
    options_.borders = borders_.get();
    return;
  }
  gathering_ = gathering(comm_, row_starts, {});
  first_ = row_starts[static_cast<std::size_t>(rank_of(comm_))];
  collectively(comm_, [&] {
    sum_row_ptr_ = to_device(std::span<const std::int32_t>(gathering_.row_ptr), stream_);
    sources_ = to_device(std::span<const std::int32_t>(gathering_.sources), stream_);
    whole_r_ = DeviceBuffer<double>(static_cast<std::size_t>(row_starts.back()), stream_);
    whole_z_ = DeviceBuffer<double>(static_cast<std::size_t>(row_starts.back()), stream_);
    stream_.synchronize();
  });
  gather_ = make_exchange(comm_, gathering_.plan);
}

template <class AllLevels>
void RankHierarchy::make_cycle(const AllLevels& levels, CycleKind kind) {
  if (borders_) options_.vectors = vectors_for(comm_, levels, stream_);
  collectively(comm_, [&] {
    cycle_.reset();  // before memory is taken for the new one
    cycle_ = std::make_unique<CudaHierarchy>(levels, kind, options_);
  });
}

RankHierarchy::~RankHierarchy() = default;

template <class AllLevels>
void RankHierarchy::renew_from(const std::vector<RankLevel>& distributed, const AllLevels& levels,
                               CycleKind kind) {
  const CycleVectors before = options_.vectors;
  if (borders_) {
    borders_->renew(distributed);
    options_.vectors = vectors_for(comm_, levels, stream_);
  }
  bool renewed = false;
  collectively(comm_, [&] { renewed = options_.vectors == before && cycle_->renew(levels); });
  if (any_rank(comm_, !renewed)) make_cycle(levels, kind);
}

void RankHierarchy::renew(const Hierarchy& host) {
  const Stopwatch watch;
  const HostRankParts parts = host.rank_parts();
  const std::vector<RankLevel> levels = rank_levels(parts);
  renew_from(levels, all_levels(levels, parts.whole), host.options().cycle);
  set_facts(host.facts(), watch.seconds());
}

void RankHierarchy::renew() {
  set_up_->renew();
  const Stopwatch watch;
  const RankSetUp::ForCycle made = set_up_->for_cycle();
  const HierarchyFacts of_levels = set_up_->facts();
  renew_from(made.borders, made.levels, of_levels.options.cycle);
  set_facts(of_levels, watch.seconds());
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
void RankHierarchy::set_facts(const HierarchyFacts& of_levels, double seconds) {
  facts_ = of_levels;
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
