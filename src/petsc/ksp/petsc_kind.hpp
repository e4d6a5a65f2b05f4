// SPDX-License-Identifier: BSD-3-Clause
// Which kind of PETSc this code was compiled for, and which one it runs with. The linker does not
// notice a difference: the names of PETSc's functions are the same for real and complex scalars and
// for both sizes of indices, and a program's own PETSc comes before the one that a library needs.
#pragma once

#include <cstdint>
#include <string>

namespace trireme {

struct PetscKind {
  bool initialized = true;   // also within PetscInitialize, where PetscInitialized says no
  std::string scalar, real;  // as "double", "complex", "float"
  std::int64_t index_bits = 0;
  std::int64_t major = 0, minor = 0;
  bool operator==(const PetscKind&) const = default;
};

PetscKind kind_of_compiled_petsc();
// Asks the PETSc that is linked, by functions whose arguments do not depend on its kind.
PetscKind kind_of_running_petsc();

// One sentence that says why the one cannot serve for the other, and what to do; empty where it
// can.
std::string why_petsc_is_refused(const PetscKind& compiled, const PetscKind& running);

}  // namespace trireme
