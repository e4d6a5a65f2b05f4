// SPDX-License-Identifier: BSD-3-Clause
// Two Mats compared by what they do to the same vector.
#pragma once

#include "petsc/shim.hpp"
#include "support/random.hpp"

namespace trireme::test {

// || A x - B x || / || A x || by MatMult, MatMultTranspose or whatever `apply` does.
template <class Apply>
double relative_difference(Mat a, Mat b, Apply&& apply) {
  VecHandle x, ya, yb;
  petsc_check(MatCreateVecs(a, x.put(), ya.put()));
  petsc_check(VecDuplicate(ya, yb.put()));
  PetscInt first = 0, last = 0;
  petsc_check(VecGetOwnershipRange(x, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(VecSetValue(x, row, Random(row).value<double>(), INSERT_VALUES));
  petsc_check(VecAssemblyBegin(x));
  petsc_check(VecAssemblyEnd(x));
  petsc_check(VecSet(yb, PETSC_MAX_REAL));
  apply(a, x, ya);
  apply(b, x, yb);
  PetscReal size = 0, difference = 0;
  petsc_check(VecNorm(ya, NORM_2, &size));
  petsc_check(VecAXPY(yb, -1, ya));
  petsc_check(VecNorm(yb, NORM_2, &difference));
  return size > 0 ? difference / size : difference;
}

inline const auto mult = [](Mat a, Vec x, Vec y) { petsc_check(MatMult(a, x, y)); };
inline const auto mult_transpose = [](Mat a, Vec x, Vec y) {
  petsc_check(MatMultTranspose(a, x, y));
};
inline const auto diagonal = [](Mat a, Vec, Vec y) { petsc_check(MatGetDiagonal(a, y)); };

}  // namespace trireme::test
