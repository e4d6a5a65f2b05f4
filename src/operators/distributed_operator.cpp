// SPDX-License-Identifier: BSD-3-Clause
// The distributed product on the host.
#include "operators/distributed_operator.hpp"

#include <utility>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"

namespace trireme {

using Part = Operator::Observer::Part;

DistributedOperator::DistributedOperator(std::shared_ptr<DistributedMatrix> matrix,
                                         std::string_view kernel)
    : Operator(std::move(matrix), kernel),
      packed_(matrix_->halo.send_rows.size()),
      ghosts_(matrix_->halo.ghosts),
      exchange_(matrix_->comm, matrix_->halo, packed_, ghosts_) {
  const Stopwatch watch;
  collectively(matrix_->comm, [&] {
    const SplitRows& blocks = matrix_->blocks;
    local_ = build_host_kernel<double>(kernel, blocks.local.view());
    if (blocks.ghost.nnz() > 0) ghost_ = build_host_kernel<double>(kernel, blocks.ghost.view());
  });
  build_seconds_ = watch.seconds();
}

void DistributedOperator::pack(std::span<const double> x) {
  const std::int32_t* rows = matrix_->halo.send_rows.data();
  const auto count = static_cast<std::int64_t>(packed_.size());
#pragma omp parallel for schedule(static) if (count > 10000)
  for (std::int64_t k = 0; k < count; ++k) packed_[k] = x[rows[k]];
}

void DistributedOperator::begin_halo(std::span<const double> x) {
  pack(x);
  exchange_.begin();
}

std::span<const double> DistributedOperator::end_halo() {
  exchange_.end();
  return ghosts_;
}

void DistributedOperator::multiply(std::span<const double> x, std::span<double> y) {
  const Stopwatch watch;
  const bool halo = !matrix_->halo.empty();
  if (halo) observed(Part::halo, [&] { begin_halo(x); });
  observed(Part::local, [&] { local_->multiply(x, y, Accumulate::no); });
  if (halo) observed(Part::halo, [&] { end_halo(); });
  if (ghost_) observed(Part::ghost, [&] { ghost_->multiply(ghosts_, y, Accumulate::yes); });
  times_.record(watch.seconds());
}

void DistributedOperator::refresh_values() {
  local_->update_values(matrix_->blocks.local.values);
  if (ghost_) ghost_->update_values(matrix_->blocks.ghost.values);
}

KernelStatistics DistributedOperator::statistics() const {
  return ghost_ ? combined(local_->statistics(), ghost_->statistics()) : local_->statistics();
}

}  // namespace trireme
