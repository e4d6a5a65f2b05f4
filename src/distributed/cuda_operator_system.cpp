// SPDX-License-Identifier: BSD-3-Clause
// Products and sums of the resident engine over the ranks of an operator.
#include "distributed/cuda_operator_system.hpp"

#include <utility>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

// One point of global sums takes as long as reading and writing one more number per row, for this
// many rows. Measured between H200 GPUs with NVLink: a point takes 3, 8 and 25 us.
constexpr std::int64_t rows_of_a_sum(Recording recording) {
  switch (recording) {
    case Recording::loop:
      return 1'500'000;
    case Recording::replay:
      return 4'000'000;
    case Recording::none:
      break;
  }
  return 12'000'000;
}

}  // namespace

CudaOperatorSystem::CudaOperatorSystem(std::shared_ptr<CudaOperator> op)
    : op_(std::move(op)),
      processes_(size_of(op_->matrix().comm)),
      kernel_(op_->share_local_kernel()) {}

void CudaOperatorSystem::multiply(DeviceSpan<const double> x, DeviceSpan<double> y,
                                  StreamRef stream) {
  op_->queue_product(x, y, {}, stream);
}

void CudaOperatorSystem::multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                                          StreamRef stream) {
  op_->queue_exact_product(x, y, stream);
}

void CudaOperatorSystem::multi_multiply(DeviceMultiVector<const double> x,
                                        DeviceMultiVector<double> y, StreamRef stream) {
  op_->queue_multi_product(x, y, stream);
}

void CudaOperatorSystem::multiply_and_dot(DeviceSpan<const double> x, DeviceSpan<double> y,
                                          DeviceSpan<double> partials, StreamRef stream) {
  op_->queue_product(x, y, partials, stream);
}

DeviceCsr<double> CudaOperatorSystem::csr() const {
  if (!op_->has_entries()) return {};
  const BlockedDeviceCsr<double>& local = op_->local();
  return processes_ == 1 && local.is_one_block() ? local.view() : DeviceCsr<double>{};
}

Recording CudaOperatorSystem::recording() const {
  return processes_ == 1 ? Recording::loop : op_->exchange()->recording();
}

void CudaOperatorSystem::sum(DeviceSpan<double> values, StreamRef stream) {
  op_->exchange()->sum(values, stream);
}

PeerSums* CudaOperatorSystem::peer_sums() const {
  return processes_ == 1 ? nullptr : op_->exchange()->peer_sums();
}

void CudaOperatorSystem::check() const {
  if (processes_ > 1) op_->exchange()->check();
}

// Decided by the rows of all ranks, so that every rank decides alike.
bool CudaOperatorSystem::sums_are_cheap() const {
  if (processes_ == 1) return true;
  return op_->matrix().global_rows() > rows_of_a_sum(recording()) * processes_;
}

}  // namespace trireme
