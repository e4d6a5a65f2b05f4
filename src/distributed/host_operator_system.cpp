// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/host_operator_system.hpp"

#include "parallel/collective.hpp"

namespace trireme {

HostOperatorSystem::HostOperatorSystem(std::shared_ptr<HostOperator> op)
    : op_(std::move(op)), processes_(size_of(op_->matrix().comm)) {}

std::span<const std::int32_t> HostOperatorSystem::order() const {
  return op_->ordered() ? op_->ordered()->order() : std::span<const std::int32_t>();
}

void HostOperatorSystem::sum(std::span<double> values) {
  if (processes_ == 1) return;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                op_->matrix().comm);
}

}  // namespace trireme
