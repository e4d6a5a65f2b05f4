// SPDX-License-Identifier: BSD-3-Clause
// The entries of a Mat for a preconditioner that needs a positive diagonal: those of -A where the
// diagonal of A is negative throughout.
#pragma once

#include <memory>

#include "distributed/distributed_matrix.hpp"
#include "petsc/mat/mat_entries.hpp"
#include "petsc/shim.hpp"

namespace trireme {

class SignedEntries {
 public:
  // As MatEntries::take(). A change of the sign is a change of everything.
  MatEntries::Change take(Mat mat);

  // A, or a copy of -A, which stays the same object where only values have changed.
  const std::shared_ptr<DistributedMatrix>& matrix() const { return matrix_; }
  bool negated() const { return negated_; }
  // As MatEntries::forget().
  void forget();

 private:
  MatEntries entries_;
  std::shared_ptr<DistributedMatrix> matrix_;
  bool negated_ = false;
};

}  // namespace trireme
