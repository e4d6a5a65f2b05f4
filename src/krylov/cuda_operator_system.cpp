// SPDX-License-Identifier: BSD-3-Clause
// Products and sums of the resident engine over the ranks of an operator.
#include "krylov/cuda_operator_system.hpp"

#include <utility>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

// A point of global sums costs what reading and writing so many rows more does: measured between
// GPUs that write into each other's memory, H200 and NVLink.
constexpr std::int64_t kRowsOfAPeerSum = 1'500'000;

}  // namespace

CudaOperatorSystem::CudaOperatorSystem(std::shared_ptr<CudaOperator> op)
    : op_(std::move(op)), processes_(size_of(op_->matrix().comm)) {}

void CudaOperatorSystem::multiply(DeviceSpan<const double> x, DeviceSpan<double> y,
                                  StreamRef stream) {
  op_->queue_product(x, y, {}, stream);
}

void CudaOperatorSystem::multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                                          StreamRef stream) {
  op_->queue_exact_product(x, y, stream);
}

void CudaOperatorSystem::multiply_and_dot(DeviceSpan<const double> x, DeviceSpan<double> y,
                                          DeviceSpan<double> partials, StreamRef stream) {
  op_->queue_product(x, y, partials, stream);
}

DeviceCsr<double> CudaOperatorSystem::csr() const {
  return processes_ == 1 ? op_->local_csr() : DeviceCsr<double>{};
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

// The same on every rank, which their own numbers of rows are not.
bool CudaOperatorSystem::sums_are_cheap() const {
  return peer_sums() && op_->matrix().global_rows() > kRowsOfAPeerSum * processes_;
}

}  // namespace trireme
