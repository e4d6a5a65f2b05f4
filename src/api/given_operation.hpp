// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners that a loop is given as an operation: multigrid, and an approximate inverse.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "api/words.hpp"
#include "distributed/distributed_matrix.hpp"
#include "inverses/operation.hpp"
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

  solvers::GivenPreconditioner* get() const {
    if (multigrid_) return multigrid_.get();
    return fsai_.get();
  }
  // Takes the present values of the matrix. Throws what the set-ups throw. Collective.
  void renew();
  // None: it is no multigrid.
  std::optional<multigrid::HierarchyFacts> hierarchy() const;

 private:
  // At most one of them is set.
  std::unique_ptr<multigrid::MultigridOperation> multigrid_;
  std::unique_ptr<inverses::FsaiOperation> fsai_;
};

}  // namespace trireme::api
