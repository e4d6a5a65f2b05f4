// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners that a loop is given as an operation: multigrid, approximate inverses, and
// incomplete factors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "api/words.hpp"
#include "distributed/distributed_matrix.hpp"
#include "factors/options.hpp"
#include "inverses/fsai.hpp"
#include "inverses/spai.hpp"
#include "multigrid/operation.hpp"
#include "multigrid/options.hpp"

namespace trireme::api {

// What preconditioners are made with.
struct PreconditionerData {
  std::int32_t block_size = 1;
  std::int32_t chebyshev_degree = 4;
  multigrid::Options multigrid{};
  multigrid::NearNullspace modes{};  // in the rows of the matrix; width 0: constants
  inverses::FsaiOptions fsai{};
  inverses::SpaiOptions spai{};
  factors::IluOptions ilu{};
};

class GivenOperation {
 public:
  // Empty: get() is null.
  GivenOperation() = default;
  // Empty for a preconditioner that is no operation. `data` must outlive this. Throws what the
  // set-ups throw. Collective.
  GivenOperation(const AnyPreconditioner& preconditioner,
                 const std::shared_ptr<DistributedMatrix>& matrix, const PreconditionerData& data,
                 bool on_gpu);

  solvers::GivenPreconditioner* get() const { return operation_.get(); }
  // Takes the present values of the matrix. Throws what the set-ups throw. Collective.
  void renew() {
    if (renew_) renew_();
  }
  // None: it is no multigrid.
  std::optional<multigrid::HierarchyFacts> hierarchy() const {
    return multigrid_ ? multigrid_->facts() : std::nullopt;
  }

 private:
  std::unique_ptr<solvers::GivenPreconditioner> operation_;
  std::function<void()> renew_;
  multigrid::MultigridOperation* multigrid_ = nullptr;  // operation_, where it is multigrid
};

}  // namespace trireme::api
