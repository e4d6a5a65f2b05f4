// SPDX-License-Identifier: BSD-3-Clause
// Copies between PETSc vectors and arrays.
#include "petsc/vectors.hpp"

#include <algorithm>

#include "petsc/shim.hpp"

namespace trireme {

Array<double> local_values(Vec vec) {
  PetscInt size = 0;
  const PetscScalar* data = nullptr;
  petsc_check(VecGetLocalSize(vec, &size));
  petsc_check(VecGetArrayRead(vec, &data));
  Array<double> values(data, data + size);
  petsc_check(VecRestoreArrayRead(vec, &data));
  return values;
}

void set_local_values(Vec vec, std::span<const double> values) {
  PetscScalar* data = nullptr;
  petsc_check(VecGetArrayWrite(vec, &data));
  std::copy(values.begin(), values.end(), data);
  petsc_check(VecRestoreArrayWrite(vec, &data));
}

}  // namespace trireme
