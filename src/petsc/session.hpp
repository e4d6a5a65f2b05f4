// SPDX-License-Identifier: BSD-3-Clause
// PETSc from its initialisation to its end.
#pragma once

#include <mpi.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trireme {

// Initialises PETSc on MPI_COMM_WORLD (MPI too, if nobody has). Errors of PETSc become exceptions
// of petsc_check() instead of a traceback. One at a time; everything of PETSc dies before it.
// PETSc is not finalised while an exception leaves its scope, since the other ranks may not come.
//
// Options come from four places, the later ones win: ~/.petscrc, PETSC_OPTIONS, the case, the
// command line after `--`. A .petscrc of the working directory, which may have come with somebody
// else's case, is not read. What a key of the case decides (config/keys.hpp: owned_petsc_options)
// has no effect as an option, wherever it comes from.
class PetscSession {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;  // name without '-', value

  // `options` are the case's; `arguments` are what follows `--`, each one word as PETSc reads it.
  // Throws Error{usage} for an argument that PETSc cannot read or that a key of the case decides.
  explicit PetscSession(const Options& options = {},
                        const std::vector<std::string>& arguments = {});
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  // A line for each option that came from outside the case and the command line, and for what was
  // done about it.
  const std::vector<std::string>& notes() const { return notes_; }

  // Options that nobody has asked for so far, such as misspelt ones: "-ksp_typ cg".
  static std::vector<std::string> unused_options();

 private:
  void judge_options_from_outside(const std::set<std::string>& ours);

  std::vector<std::string> notes_;
};

// Version of the library that runs: "3.18.5".
std::string petsc_version();

// Whether this PETSc was built with CUDA, so that its own matrices and vectors can be on a GPU.
bool petsc_has_cuda();

}  // namespace trireme
