// SPDX-License-Identifier: BSD-3-Clause
// Numbers of columns that travel between the rank that owns a column and the ranks that have it as
// a ghost.
#pragma once

#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/halo.hpp"

namespace trireme {

class GhostNumbers {
 public:
  // The matrix must outlive the object. Collective, as are the members.
  explicit GhostNumbers(const DistributedMatrix& matrix);

  // The owners' numbers of this rank's ghost columns, valid until the next call of a member. `own`
  // has one number per local column.
  std::span<const double> of_owners(std::span<const double> own);
  // own[j] = the largest one of itself and of what the other ranks have for column j.
  void take_largest(std::span<const double> of_ghosts, std::span<double> own);

 private:
  const DistributedMatrix& matrix_;
  Array<double> packed_, ghosts_;
  HaloExchange exchange_;
};

}  // namespace trireme
