// SPDX-License-Identifier: BSD-3-Clause
// Products and sums of the resident engine over the ranks of an operator.
#include "krylov/cuda_operator_system.hpp"

#include <mpi.h>

#include <utility>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr std::size_t kMostSums = 32;

}  // namespace

CudaOperatorSystem::CudaOperatorSystem(std::shared_ptr<CudaOperator> op)
    : op_(std::move(op)), processes_(size_of(op_->matrix().comm)) {
  if (processes_ > 1) sums_ = PinnedBuffer<double>(kMostSums);
}

void CudaOperatorSystem::multiply(DeviceSpan<const double> x, DeviceSpan<double> y,
                                  StreamRef stream) {
  if (processes_ == 1)  // without the events, which a loop on the device could not record
    op_->local_kernel().multiply(x, y, Accumulate::no, stream);
  else
    op_->multiply(x, y, stream);
}

void CudaOperatorSystem::multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                                          StreamRef stream) {
  if (processes_ == 1)
    op_->exact_local_kernel().multiply(x, y, Accumulate::no, stream);
  else
    op_->multiply_exactly(x, y, stream);
}

std::size_t CudaOperatorSystem::dot_partials() const {
  return processes_ == 1 ? op_->local_kernel().dot_partials() : 0;
}

void CudaOperatorSystem::multiply_and_dot(DeviceSpan<const double> x, DeviceSpan<double> y,
                                          DeviceSpan<double> partials, StreamRef stream) {
  op_->local_kernel().multiply_and_dot(x, y, partials, stream);
}

DeviceCsr<double> CudaOperatorSystem::csr() const {
  return processes_ == 1 ? op_->local_csr() : DeviceCsr<double>{};
}

void CudaOperatorSystem::sum(DeviceSpan<double> values, StreamRef stream) {
  const std::span<double> here = sums_.span().first(values.size());
  copy_to_host(DeviceSpan<const double>(values), here, stream);
  synchronize(stream);
  MPI_Allreduce(MPI_IN_PLACE, here.data(), static_cast<int>(here.size()), MPI_DOUBLE, MPI_SUM,
                op_->matrix().comm);
  copy_to_device(std::span<const double>(here), values, stream);
}

}  // namespace trireme
