// SPDX-License-Identifier: BSD-3-Clause
// PCApply between copies, and the removal of null spaces.
#include "petsc/ksp/applied_pc.hpp"

#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"

namespace trireme {

MatNullSpace null_space_of(Mat mat) {
  MatNullSpace space = nullptr;
  petsc_check(MatGetNullSpace(mat, &space));
  return space;
}

AppliedPc::AppliedPc(PC pc, Vec like) : pc_(pc) {
  petsc_check(VecDuplicate(like, r_.put()));
  petsc_check(VecDuplicate(like, z_.put()));
}

void AppliedPc::apply(std::span<const double> r, std::span<double> z) {
  Mat amat = nullptr;
  set_local_values(r_, r);
  petsc_check(PCApply(pc_, r_, z_));
  petsc_check(PCGetOperators(pc_, &amat, nullptr));
  if (MatNullSpace space = null_space_of(amat)) petsc_check(MatNullSpaceRemove(space, z_));
  copy_local_values(z_, z);
}

ConsistentRightHandSide::ConsistentRightHandSide(KSP ksp, bool symmetric) : ksp_(ksp) {
  Mat amat = nullptr;
  MatNullSpace space = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  petsc_check(MatGetTransposeNullSpace(amat, &space));
  if (!space && symmetric) space = null_space_of(amat);
  if (!space) return;
  Vec b = right_hand_side_of(ksp);
  petsc_check(VecDuplicate(b, consistent_.put()));
  petsc_check(VecCopy(b, consistent_));
  petsc_check(MatNullSpaceRemove(space, consistent_));
  given_ = exchange_vectors(ksp, {consistent_, solution_of(ksp)}).right_hand_side;
}

ConsistentRightHandSide::~ConsistentRightHandSide() {
  if (given_) exchange_vectors(ksp_, {given_, solution_of(ksp_)});
}

}  // namespace trireme
