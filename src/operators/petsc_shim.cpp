// SPDX-License-Identifier: BSD-3-Clause
// PETSc errors to exceptions and back.
#include "operators/petsc_shim.hpp"

#include <string>

namespace trireme {

void petsc_check(PetscErrorCode error, ExitCode code) {
  if (error == kPetscSuccess) return;
  const char* general = nullptr;
  char* specific = nullptr;
  static_cast<void>(PetscErrorMessage(error, &general, &specific));
  std::string text = specific && *specific ? specific : general ? general : "unknown error";
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  fail(error == PETSC_ERR_MEM ? ExitCode::resource : code, "PETSc: {}", text);
}

PetscErrorCode petsc_raise(MPI_Comm comm, const std::exception& error) {
  return PetscError(comm, __LINE__, "petsc_raise", __FILE__, PETSC_ERR_LIB, PETSC_ERROR_INITIAL,
                    "%s", error.what());
}

}  // namespace trireme
