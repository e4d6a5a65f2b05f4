// SPDX-License-Identifier: BSD-3-Clause
// The entries of any Mat as a distributed matrix, for a preconditioner that needs them and keeps
// what it has made of them.
#pragma once

#include <cstdint>
#include <memory>

#include "distributed/distributed_matrix.hpp"
#include "petsc/mat/aij_state.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// A Trireme shell and a Mat of type trireme share their matrix. Any other Mat is copied: AIJ as it
// is, and other types by way of AIJ.
class MatEntries {
 public:
  // What is new since the last call of take().
  enum class Change { none, values, everything };

  // Takes the present entries of `mat`. Where only values have changed, matrix() remains the same
  // object. Throws Error{usage} for a Mat that has no entries, or whose rows and columns are not
  // split alike. Collective.
  Change take(Mat mat);

  const std::shared_ptr<DistributedMatrix>& matrix() const { return matrix_; }
  // Forgets the matrix, so that the next take() takes everything.
  void forget();

 private:
  Change take_shared(const std::shared_ptr<DistributedMatrix>& matrix);
  Change take_aij(Mat aij);
  Change take_converted(Mat mat);

  std::shared_ptr<DistributedMatrix> matrix_;
  std::uint64_t version_ = 0;  // of the shared matrix's values
  bool converted_ = false;     // whether matrix_ is a copy by way of AIJ
  AijState state_;             // of the AIJ that was copied
};

}  // namespace trireme
