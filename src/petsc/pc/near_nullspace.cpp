// SPDX-License-Identifier: BSD-3-Clause
// Copies columns between vectors of PETSc and arrays by rows.
#include "petsc/pc/near_nullspace.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "petsc/pc/petsc_preconditioners.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"
#include "petsc/vectors.hpp"

namespace trireme {

using NullSpaceHandle = PetscHandle<MatNullSpace, MatNullSpaceDestroy>;

multigrid::NearNullspace near_nullspace_of(Mat mat) {
  MatNullSpace space = nullptr;
  petsc_check(MatGetNearNullSpace(mat, &space));
  if (!space) return {};
  PetscBool has_constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  petsc_check(MatNullSpaceGetVecs(space, &has_constant, &count, &vectors));
  PetscInt rows = 0, global_rows = 0;
  petsc_check(MatGetLocalSize(mat, &rows, nullptr));
  petsc_check(MatGetSize(mat, &global_rows, nullptr));
  const std::int64_t before = has_constant ? 1 : 0;
  const std::int64_t width = before + count;
  multigrid::NearNullspace result{.values = Array<double>(rows * width),
                                  .width = static_cast<std::int32_t>(width)};
  if (has_constant) {
    const double value = 1 / std::sqrt(static_cast<double>(global_rows));
    for (PetscInt i = 0; i < rows; ++i) result.values[i * width] = value;
  }
  for (PetscInt k = 0; k < count; ++k) {
    const Array<double> vector = local_values(vectors[k]);
    for (PetscInt i = 0; i < rows; ++i) result.values[i * width + before + k] = vector[i];
  }
  return result;
}

std::vector<PetscObjectState> near_nullspace_state(Mat mat) {
  MatNullSpace space = nullptr;
  petsc_check(MatGetNearNullSpace(mat, &space));
  if (!space) return {};
  std::vector<PetscObjectState> numbers;
  const auto add = [&](PetscObject object) {
    PetscObjectId id = 0;
    petsc_check(PetscObjectGetId(object, &id));
    numbers.insert(numbers.end(), {id, state_of(object)});
  };
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  petsc_check(MatNullSpaceGetVecs(space, nullptr, &count, &vectors));
  add(object_of(space));
  for (PetscInt k = 0; k < count; ++k) add(object_of(vectors[k]));
  return numbers;
}

void set_near_nullspace(Mat mat, const Modes& modes) {
  PetscBool chosen = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-mat_block_size", &chosen));
  if (modes.block_size > 1 && !chosen) petsc_check(MatSetBlockSize(mat, modes.block_size));
  if (modes.width == 0) return;
  const std::int64_t width = modes.width;
  std::vector<VecHandle> owners(width);
  std::vector<Vec> vectors;
  Array<double> column(modes.values.size() / static_cast<std::size_t>(width));
  for (std::int64_t k = 0; k < width; ++k) {
    petsc_check(MatCreateVecs(mat, nullptr, owners[k].put()));
    vectors.push_back(owners[k]);
    for (std::int64_t i = 0; i < std::ssize(column); ++i) column[i] = modes.values[i * width + k];
    set_local_values(owners[k], column);
  }
  NullSpaceHandle space;
  petsc_check(MatNullSpaceCreate(comm_of(mat), PETSC_FALSE, static_cast<PetscInt>(width),
                                 vectors.data(), space.put()));
  petsc_check(MatSetNearNullSpace(mat, space));
}

bool may_use_near_nullspace(const SolverSpec& solver) {
  std::array<char, 256> option{};
  PetscBool given = PETSC_FALSE;
  petsc_check(
      PetscOptionsGetString(nullptr, nullptr, "-pc_type", option.data(), option.size(), &given));
  if (!given && !solver.preconditioner) return true;
  const AnyPreconditioner used =
      given ? AnyPreconditioner::of_type(option.data()) : *solver.preconditioner;
  if (const auto* const own = used.own()) return own->info.near_nullspace;
  const PetscPreconditioner* const petscs = petsc_preconditioner(used);
  return !petscs || petscs->near_nullspace;
}

}  // namespace trireme
