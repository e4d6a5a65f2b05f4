// SPDX-License-Identifier: BSD-3-Clause
// The distributed product and its transpose on the host.
#include "operators/distributed_operator.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using Part = DistributedOperator::Observer::Part;

template <class Work>
void observed(DistributedOperator::Observer* observer, Part part, Work&& work) {
  if (observer) observer->begin(part);
  work();
  if (observer) observer->end(part);
}

// y += A^T x by rows of A, in storage order.
void add_transposed(const CsrView<double>& a, std::span<const double> x, std::span<double> y) {
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      y[a.col_idx[k]] += a.values[k] * x[row];
}

}  // namespace

DistributedOperator::DistributedOperator(std::shared_ptr<DistributedMatrix> matrix,
                                         std::string_view kernel)
    : matrix_(std::move(matrix)),
      kernel_(kernel),
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
  if (halo) observed(observer_, Part::halo, [&] { begin_halo(x); });
  observed(observer_, Part::local, [&] { local_->multiply(x, y, Accumulate::no); });
  if (halo) observed(observer_, Part::halo, [&] { end_halo(); });
  if (ghost_)
    observed(observer_, Part::ghost, [&] { ghost_->multiply(ghosts_, y, Accumulate::yes); });
  times_.record(watch.seconds());
}

void DistributedOperator::multiply_transpose(std::span<const double> x, std::span<double> y) {
  std::fill(ghosts_.begin(), ghosts_.end(), 0.0);
  add_transposed(matrix_->blocks.ghost.view(), x, ghosts_);
  exchange_.begin_reverse();
  std::fill(y.begin(), y.end(), 0.0);
  add_transposed(matrix_->blocks.local.view(), x, y);
  exchange_.end_reverse();
  const Array<std::int32_t>& rows = matrix_->halo.send_rows;
  for (std::size_t k = 0; k < rows.size(); ++k) y[rows[k]] += packed_[k];
}

void DistributedOperator::update_values(std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != matrix_->blocks.nnz())
    fail(ExitCode::usage, "update_values: {} values for a rank that holds {} nonzeros",
         values.size(), matrix_->blocks.nnz());
  scatter_values(values, matrix_->blocks);
  refresh_values();
}

void DistributedOperator::refresh_values() {
  local_->update_values(matrix_->blocks.local.values);
  if (ghost_) ghost_->update_values(matrix_->blocks.ghost.values);
}

KernelStatistics DistributedOperator::statistics() const {
  KernelStatistics sum = local_->statistics();
  if (!ghost_) return sum;
  const KernelStatistics ghost = ghost_->statistics();
  const auto local_nnz = static_cast<double>(matrix_->blocks.local.nnz());
  const auto ghost_nnz = static_cast<double>(matrix_->blocks.ghost.nnz());
  sum.padding_ratio =
      (sum.padding_ratio * local_nnz + ghost.padding_ratio * ghost_nnz) / (local_nnz + ghost_nnz);
  sum.stored_bytes += ghost.stored_bytes;
  for (BuildStep step : ghost.steps) {
    step.name = "ghost: " + step.name;
    sum.steps.push_back(std::move(step));
  }
  return sum;
}

}  // namespace trireme
