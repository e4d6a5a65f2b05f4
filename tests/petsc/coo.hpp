// SPDX-License-Identifier: BSD-3-Clause
// Another pattern for a Mat of PETSc, given by coordinates.
#pragma once

#include <petscmat.h>

#include <vector>

#include "petsc/shim.hpp"

namespace trireme::test {

// Makes `a` the matrix with 4 on the diagonal and -1 in column (row + distance) modulo its size.
// The distances 1 and size - 1 have as many nonzeros in every block of every rank.
inline void set_by_coordinates(Mat a, PetscInt distance) {
  PetscInt first = 0, last = 0, size = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  petsc_check(MatGetSize(a, &size, nullptr));
  std::vector<PetscInt> rows, columns;
  std::vector<PetscScalar> values;
  for (PetscInt row = first; row < last; ++row)
    for (const bool on_diagonal : {true, false}) {
      rows.push_back(row);
      columns.push_back(on_diagonal ? row : (row + distance) % size);
      values.push_back(on_diagonal ? 4 : -1);
    }
  petsc_check(
      MatSetPreallocationCOO(a, static_cast<PetscCount>(rows.size()), rows.data(), columns.data()));
  petsc_check(MatSetValuesCOO(a, values.data(), INSERT_VALUES));
}

}  // namespace trireme::test
