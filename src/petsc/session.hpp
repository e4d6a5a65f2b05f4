// SPDX-License-Identifier: BSD-3-Clause
// PETSc from its initialisation to its end.
#pragma once

#include <mpi.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trireme {

// Initialises PETSc on MPI_COMM_WORLD, and MPI where it is not initialised. Errors of PETSc become
// exceptions of petsc_check() in place of a traceback. Only one session exists at a time, and every
// PETSc object is destroyed before it. PETSc is not finalised while an exception leaves the scope
// of the session, because finalising is collective and the other ranks may never come to it.
//
// Options come from four places, of which a later one wins: ~/.petscrc, PETSC_OPTIONS, the case,
// the command line after `--`. A .petscrc of the working directory is not read, because it may have
// come with the case of another person. An option that a key of the case decides (config/keys.hpp:
// owned_petsc_options) has no effect, wherever it comes from.
class PetscSession {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;  // name without '-', value

  // `options`: those of the case. `arguments`: the words after `--`, as PETSc reads them.
  // Throws Error{usage} for an argument that PETSc cannot read or that a key of the case decides.
  explicit PetscSession(const Options& options = {},
                        const std::vector<std::string>& arguments = {});
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  // One line per option that came from outside the case and the command line, which says what was
  // done with it.
  const std::vector<std::string>& notes() const { return notes_; }

  // Every option that PETSc has, from all four places: "-ksp_type cg -ksp_monitor ".
  static std::string all_options();

  // Options that nobody has read so far, such as misspelt ones: "-ksp_typ cg".
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
