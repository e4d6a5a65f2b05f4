// SPDX-License-Identifier: BSD-3-Clause
// Asks headers and library.
#include "petsc/ksp/petsc_kind.hpp"

#include <fmt/format.h>
#include <petscsys.h>

#include <bit>
#include <cctype>
#include <cstddef>

#include "petsc/shim.hpp"

namespace trireme {
namespace {

std::string type_named(const char* name) {
  PetscDataType type = PETSC_DATATYPE_UNKNOWN;
  PetscBool found = PETSC_FALSE;
  petsc_check(PetscDataTypeFromString(name, &type, &found));
  std::string word = found == PETSC_TRUE ? PetscDataTypes[type] : "unknown";
  for (char& letter : word) letter = static_cast<char>(std::tolower(letter));
  return word;
}

std::string describe(const PetscKind& kind) {
  const std::string scalar =
      kind.scalar == kind.real ? kind.scalar : kind.scalar + " (" + kind.real + ")";
  return fmt::format("PETSc {}.{} with {} scalars and {}-bit indices", kind.major, kind.minor,
                     scalar, kind.index_bits);
}

}  // namespace

PetscKind kind_of_compiled_petsc() {
  return {.initialized = true,
          .scalar = "double",  // see shim.hpp
          .real = "double",
          .index_bits = 8 * static_cast<std::int64_t>(sizeof(PetscInt)),
          .major = PETSC_VERSION_MAJOR,
          .minor = PETSC_VERSION_MINOR};
}

PetscKind kind_of_running_petsc() {
  PetscKind kind;
  kind.initialized = PETSC_COMM_WORLD != MPI_COMM_NULL;
  kind.scalar = type_named("scalar");
  kind.real = type_named("real");
  std::size_t bytes = 0;
  petsc_check(PetscDataTypeGetSize(PETSC_INT, &bytes));
  kind.index_bits = 8 * static_cast<std::int64_t>(bytes);
  // The library writes integers of its own size.
  static_assert(std::endian::native == std::endian::little);
  std::int64_t patch = 0, release = 0;
  const auto place = [](std::int64_t& number) { return reinterpret_cast<PetscInt*>(&number); };
  petsc_check(
      PetscGetVersionNumber(place(kind.major), place(kind.minor), place(patch), place(release)));
  return kind;
}

std::string why_petsc_is_refused(const PetscKind& compiled, const PetscKind& running) {
  if (compiled == running) return {};
  if (!running.initialized)
    return fmt::format(
        "Trireme is linked with a {} that is not initialized: call PetscInitialize first, and load "
        "a "
        "Trireme that was built with the PETSc of the program",
        describe(running));
  const bool can_be_built = running.scalar == compiled.scalar && running.real == compiled.real;
  return fmt::format("this Trireme was built for {}, and the program runs {}: {}",
                     describe(compiled), describe(running),
                     can_be_built
                         ? "build Trireme with that PETSc (cmake -D TRIREME_PETSC=<its name for "
                           "pkg-config>)"
                         : "Trireme needs a PETSc of real doubles");
}

}  // namespace trireme
