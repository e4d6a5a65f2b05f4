// SPDX-License-Identifier: BSD-3-Clause
// What Trireme knows about PC types of PETSc that the resident loop lacks. The facts of its own
// preconditioners are in solvers/preconditioners/list.hpp.
#pragma once

#include <petscksp.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "solvers/preconditioners/any_preconditioner.hpp"

namespace trireme {

struct PetscPreconditioner {
  std::string_view type;
  bool near_nullspace = false;  // asks for near-nullspace vectors, or a PC within it may
  bool divides = false;         // by the entries of the diagonal
  bool multigrid = false;
  std::optional<double> bytes_per_nonzero = std::nullopt;  // empty: nobody can tell before the run
};

// Nothing is known about a type that is not in the table.
inline constexpr PetscPreconditioner kPetscPreconditioners[] = {
    {.type = PCSOR, .divides = true, .bytes_per_nonzero = 12},
    {.type = PCEISENSTAT, .divides = true},
    {.type = PCILU, .bytes_per_nonzero = 12},  // a factor without fill
    {.type = PCICC, .bytes_per_nonzero = 12},
    {.type = PCLU},
    {.type = PCCHOLESKY},
    {.type = PCASM, .bytes_per_nonzero = 12},
    {.type = PCBJACOBI, .near_nullspace = true, .bytes_per_nonzero = 12},
    {.type = PCGAMG, .near_nullspace = true, .multigrid = true},
    {.type = PCHYPRE, .near_nullspace = true, .multigrid = true},
    {.type = PCML, .near_nullspace = true, .multigrid = true},
};

// Null for one of Trireme's, and where nothing is known about the type.
inline const PetscPreconditioner* petsc_preconditioner(
    const solvers::AnyPreconditioner& preconditioner) {
  if (preconditioner.own()) return nullptr;
  const auto* const found =
      std::ranges::find(kPetscPreconditioners, preconditioner.name(), &PetscPreconditioner::type);
  return found == std::end(kPetscPreconditioners) ? nullptr : found;
}

}  // namespace trireme
