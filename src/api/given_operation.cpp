// SPDX-License-Identifier: BSD-3-Clause
#include "api/given_operation.hpp"

#include <utility>

namespace trireme::api {

GivenOperation::GivenOperation(const AnyPreconditioner& preconditioner,
                               const std::shared_ptr<DistributedMatrix>& matrix,
                               const PreconditionerData& data, bool on_gpu) {
  std::optional<ExchangeRequest> place;
  if (on_gpu) place.emplace();
  if (preconditioner.is_multigrid()) {
    auto made = std::make_unique<multigrid::MultigridOperation>();
    made->set_place(place);
    made->build(
        matrix, [&data] { return data.modes; }, data.multigrid);
    multigrid_ = std::move(made);
  } else if (preconditioner.is(solvers::PreconditionerKind::fsai)) {
    auto made = std::make_unique<inverses::FsaiOperation>();
    made->set_place(place);
    made->build(matrix, data.fsai);
    fsai_ = std::move(made);
  }
}

void GivenOperation::renew() {
  if (multigrid_) multigrid_->renew();
  if (fsai_) fsai_->renew();
}

std::optional<multigrid::HierarchyFacts> GivenOperation::hierarchy() const {
  return multigrid_ ? multigrid_->facts() : std::nullopt;
}

}  // namespace trireme::api
