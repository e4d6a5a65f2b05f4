// SPDX-License-Identifier: BSD-3-Clause
// A PETSc of another kind than that of the headers is refused in one sentence.
#include "petsc/ksp/petsc_kind.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace trireme {
namespace {

TEST(PetscKind, IsTheSameInTheHeadersAndTheLibrary) {
  const PetscKind compiled = kind_of_compiled_petsc(), running = kind_of_running_petsc();
  EXPECT_EQ(running.scalar, "double");
  EXPECT_EQ(running.real, "double");
  EXPECT_EQ(running.index_bits, TRIREME_BITS_OF_PETSC);
  EXPECT_EQ(running.major, compiled.major);
  EXPECT_EQ(running.minor, compiled.minor);
  EXPECT_EQ(why_petsc_is_refused(compiled, compiled), "");
}

TEST(PetscKind, EachDifferenceIsRefused) {
  struct Case {
    std::function<void(PetscKind&)> change;
    std::vector<const char*> words;
  };
  const std::vector<Case> cases = {
      {[](PetscKind& kind) { kind.scalar = "complex"; },
       {"runs PETSc 3.18 with complex (double) scalars", "needs a PETSc of real doubles"}},
      {[](PetscKind& kind) { kind.scalar = kind.real = "float"; },
       {"with float scalars", "needs a PETSc of real doubles"}},
      {[](PetscKind& kind) { kind.index_bits = 64; },
       {"double scalars and 32-bit", "double scalars and 64-bit", "build Trireme with that PETSc"}},
      {[](PetscKind& kind) { kind.minor = 19; },
       {"built for PETSc 3.18", "runs PETSc 3.19", "build Trireme with that PETSc"}},
      {[](PetscKind& kind) { kind.major = 4; }, {"runs PETSc 4.18"}},
      {[](PetscKind& kind) { kind.initialized = false; }, {"call PetscInitialize first"}}};
  const PetscKind compiled = {
      .scalar = "double", .real = "double", .index_bits = 32, .major = 3, .minor = 18};
  for (const Case& one : cases) {
    PetscKind running = compiled;
    one.change(running);
    const std::string why = why_petsc_is_refused(compiled, running);
    EXPECT_EQ(why.find('\n'), std::string::npos);
    for (const char* words : one.words)
      EXPECT_NE(why.find(words), std::string::npos) << words << " in: " << why;
  }
}

}  // namespace
}  // namespace trireme
