// SPDX-License-Identifier: BSD-3-Clause
// Copies between PETSc vectors and arrays.
#include "petsc/vectors.hpp"

#include <cstdint>

#include "parallel/collective.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

void copy(const double* from, std::int64_t count, double* into) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) into[i] = from[i];
}

}  // namespace

Array<double> local_values(Vec vec) {
  PetscInt size = 0;
  const PetscScalar* data = nullptr;
  petsc_check(VecGetLocalSize(vec, &size));
  petsc_check(VecGetArrayRead(vec, &data));
  Array<double> values(size);
  copy(data, size, values.data());
  petsc_check(VecRestoreArrayRead(vec, &data));
  return values;
}

void set_local_values(Vec vec, std::span<const double> values) {
  PetscScalar* data = nullptr;
  petsc_check(VecGetArrayWrite(vec, &data));
  copy(values.data(), std::ssize(values), data);
  petsc_check(VecRestoreArrayWrite(vec, &data));
}

VecHandle vector_without_array(Mat mat) {
  PetscInt rows = 0, global_rows = 0;
  petsc_check(MatGetLocalSize(mat, &rows, nullptr));
  petsc_check(MatGetSize(mat, &global_rows, nullptr));
  VecHandle vec;
  if (size_of(comm_of(mat)) == 1)
    petsc_check(VecCreateSeqWithArray(comm_of(mat), 1, rows, nullptr, vec.put()));
  else
    petsc_check(VecCreateMPIWithArray(comm_of(mat), 1, rows, global_rows, nullptr, vec.put()));
  return vec;
}

}  // namespace trireme
