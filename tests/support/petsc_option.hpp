// SPDX-License-Identifier: BSD-3-Clause
// An option of PETSc that a test sets.
#pragma once

#include <petscsys.h>

#include "petsc/shim.hpp"

namespace trireme::test {

// For as long as it lives.
struct PetscOption {
  PetscOption(const char* option, const char* value) : name(option) {
    petsc_check(PetscOptionsSetValue(nullptr, name, value));
  }
  ~PetscOption() { static_cast<void>(PetscOptionsClearValue(nullptr, name)); }
  PetscOption(const PetscOption&) = delete;
  const char* name;
};

}  // namespace trireme::test
