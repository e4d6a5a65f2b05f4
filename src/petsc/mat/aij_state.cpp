// SPDX-License-Identifier: BSD-3-Clause
// Asks PETSc for identities and counters.
#include "petsc/mat/aij_state.hpp"

#include "petsc/private_headers.hpp"

namespace trireme {

AijState::AijState(Mat aij, const AijBlocks& blocks)
    : whole_(counters_of(aij)),
      diagonal_(counters_of(blocks.diagonal)),
      off_diagonal_(counters_of(blocks.off_diagonal)) {}

AijState::Counters AijState::counters_of(Mat mat) {
  Counters counters;
  if (!mat) return counters;
  petsc_check(PetscObjectGetId(object_of(mat), &counters.id));
  petsc_check(MatGetNonzeroState(mat, &counters.pattern_changes));
  counters.changes = state_of(mat);
  MatInfo info;
  petsc_check(MatGetInfo(mat, MAT_LOCAL, &info));
  counters.nonzeros = info.nz_used;
  return counters;
}

bool AijState::same_pattern(const AijState& other) const {
  return whole_.id == other.whole_.id && diagonal_.same_pattern(other.diagonal_) &&
         off_diagonal_.same_pattern(other.off_diagonal_);
}

}  // namespace trireme
