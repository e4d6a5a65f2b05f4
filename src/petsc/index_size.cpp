// SPDX-License-Identifier: BSD-3-Clause
// Asks PetscInt.
#include "petsc/index_size.hpp"

#include <petscsys.h>

#include <limits>

#include "parallel/collective.hpp"

namespace trireme {

void require_petsc_counts(MPI_Comm comm, const std::string& name, std::int64_t rows) {
  constexpr std::int64_t kMost = std::numeric_limits<PetscInt>::max();
  collectively(comm, [&] {
    if (rows > kMost)
      fail(
          ExitCode::resource,
          "{} has {} rows, and this Trireme was built with a PETSc of 32-bit indices, which counts "
          "at most {}; build it with a PETSc of 64-bit indices (on Debian petsc64-dev, and cmake "
          "--preset petsc64)",
          name, rows, kMost);
  });
}

}  // namespace trireme
