// SPDX-License-Identifier: BSD-3-Clause
// Copies between PETSc vectors and arrays.
#include "petsc/vectors.hpp"

#include <cstdint>
#include <string_view>

#include "parallel/collective.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

void copy(const double* from, std::int64_t count, double* into) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) into[i] = from[i];
}

VecHandle over_memory(double* data, Mat mat, PetscInt block_size) {
  PetscInt rows = 0, global_rows = 0;
  petsc_check(MatGetLocalSize(mat, &rows, nullptr));
  petsc_check(MatGetSize(mat, &global_rows, nullptr));
  const MPI_Comm comm = comm_of(mat);
  VecHandle vec;
  if (size_of(comm) == 1)
    petsc_check(VecCreateSeqWithArray(comm, block_size, rows, data, vec.put()));
  else
    petsc_check(VecCreateMPIWithArray(comm, block_size, rows, global_rows, data, vec.put()));
  return vec;
}

}  // namespace

Array<double> local_values(Vec vec) {
  PetscInt size = 0;
  petsc_check(VecGetLocalSize(vec, &size));
  Array<double> values(size);
  copy_local_values(vec, values);
  return values;
}

void copy_local_values(Vec vec, std::span<double> values) {
  const PetscScalar* data = nullptr;
  petsc_check(VecGetArrayRead(vec, &data));
  copy(data, std::ssize(values), values.data());
  petsc_check(VecRestoreArrayRead(vec, &data));
}

void set_local_values(Vec vec, std::span<const double> values) {
  PetscScalar* data = nullptr;
  petsc_check(VecGetArrayWrite(vec, &data));
  copy(values.data(), std::ssize(values), data);
  petsc_check(VecRestoreArrayWrite(vec, &data));
}

void set_local_values_to_zero(Vec vec) {
  PetscInt size = 0;
  PetscScalar* data = nullptr;
  petsc_check(VecGetLocalSize(vec, &size));
  petsc_check(VecGetArrayWrite(vec, &data));
#pragma omp parallel for schedule(static)
  for (PetscInt i = 0; i < size; ++i) data[i] = 0;
  petsc_check(VecRestoreArrayWrite(vec, &data));
}

VecHandle vector_over(Array<double>& array, Mat mat) {
  VecType type = nullptr;
  petsc_check(MatGetVecType(mat, &type));
  const std::string_view name = type ? type : VECSTANDARD;
  array.clear();
  if (name != VECSTANDARD && name != VECSEQ && name != VECMPI) {
    VecHandle vec;
    petsc_check(MatCreateVecs(mat, vec.put(), nullptr));
    return vec;
  }
  PetscInt rows = 0, block_size = 1;
  petsc_check(MatGetLocalSize(mat, &rows, nullptr));
  petsc_check(MatGetBlockSize(mat, &block_size));
  array.resize(rows);
#pragma omp parallel for schedule(static)
  for (PetscInt i = 0; i < rows; ++i) array[i] = 0;
  return over_memory(array.data(), mat, block_size);
}

VecHandle vector_without_array(Mat mat) { return over_memory(nullptr, mat, 1); }

}  // namespace trireme
