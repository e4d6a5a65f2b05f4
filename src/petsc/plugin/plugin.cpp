// SPDX-License-Identifier: BSD-3-Clause
// What PETSc calls when it has loaded libtrireme_petsc.so: the name of the function is made of the
// name of the library.
#include <trireme/petsc.h>

#include <string_view>

static_assert(std::string_view(TRIREME_VERSION) == TRIREME_PROJECT_VERSION,
              "include/trireme/version.h and the project's version in CMakeLists.txt differ");

extern "C" PetscErrorCode PetscDLLibraryRegister_trireme_petsc() {
  return TriremeInitializePackage();
}
