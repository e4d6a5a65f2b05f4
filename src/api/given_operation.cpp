// SPDX-License-Identifier: BSD-3-Clause
#include "api/given_operation.hpp"

#include <utility>

#include "factors/operation.hpp"
#include "inverses/operation.hpp"

namespace trireme::api {

GivenOperation::GivenOperation(const AnyPreconditioner& preconditioner,
                               const std::shared_ptr<DistributedMatrix>& matrix,
                               const PreconditionerData& data, bool on_gpu) {
  using Kind = solvers::PreconditionerKind;
  std::optional<ExchangeRequest> place;
  if (on_gpu) place.emplace();
  const auto make = [&]<class Operation>(std::unique_ptr<Operation> made, const auto& build) {
    made->set_place(place);
    build(*made);
    renew_ = [operation = made.get()] { operation->renew(); };
    operation_ = std::move(made);
  };
  if (preconditioner.is_multigrid()) {
    make(std::make_unique<multigrid::MultigridOperation>(), [&](auto& made) {
      made.build(
          matrix, [&data] { return data.modes; }, data.multigrid);
      multigrid_ = &made;
    });
  } else if (preconditioner.is(Kind::fsai)) {
    make(std::make_unique<inverses::FsaiOperation>(),
         [&](auto& made) { made.build(matrix, data.fsai); });
  } else if (preconditioner.is(Kind::spai)) {
    make(std::make_unique<inverses::SpaiOperation>(),
         [&](auto& made) { made.build(matrix, data.spai); });
  } else if (preconditioner.is(Kind::ilu) || preconditioner.is(Kind::icc)) {
    factors::IluOptions options = data.ilu;
    options.definite = preconditioner.is(Kind::icc);
    make(std::make_unique<factors::IluOperation>(),
         [&](auto& made) { made.build(matrix, options); });
  }
}

}  // namespace trireme::api
