// SPDX-License-Identifier: BSD-3-Clause
// PETSc from its initialisation to its end.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace trireme {

// Initialises PETSc on MPI_COMM_WORLD (MPI too, if nobody has). Errors of PETSc become exceptions
// of petsc_check() instead of a traceback. One at a time; everything of PETSc dies before it.
class PetscSession {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;  // name without '-', value

  // `options` come from the case; `arguments` (what follows `--` on the command line, each one word
  // as PETSc reads it) come later and win. Throws Error{usage} for an argument that PETSc cannot
  // read.
  explicit PetscSession(const Options& options = {},
                        const std::vector<std::string>& arguments = {});
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  // Options that nobody has asked for so far, such as misspelt ones: "-ksp_typ cg".
  static std::vector<std::string> unused_options();
};

// Version of the library that runs: "3.18.5".
std::string petsc_version();

// Whether this PETSc was built with CUDA, so that its own matrices and vectors can be on a GPU.
bool petsc_has_cuda();

}  // namespace trireme
