// SPDX-License-Identifier: BSD-3-Clause
// How far PETSc's indices count, in a build with either size.
#include "petsc/index_size.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>

#include <string>

#include "base/error.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kMostOf32Bits = 2147483647;

// A PETSc of another name than Debian's may have either size.
TEST(IndexSize, IsThatOfThePackage) { EXPECT_GE(sizeof(PetscInt), TRIREME_BITS_OF_PETSC / 8); }

TEST(IndexSize, OfEveryPetscSufficesForItsRows) {
  EXPECT_NO_THROW(require_petsc_counts(MPI_COMM_WORLD, "a", kMostOf32Bits));
}

TEST(IndexSize, DecidesWhetherMoreRowsAreRefusedWithTheOtherPackageNamed) {
  for (const std::int64_t rows : {kMostOf32Bits + 1, std::int64_t{1} << 40}) {
    try {
      require_petsc_counts(MPI_COMM_WORLD, "poisson2d, n = 50000", rows);
      EXPECT_EQ(sizeof(PetscInt), 8) << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(sizeof(PetscInt), 4) << error.what();
      EXPECT_EQ(error.code(), ExitCode::resource);
      for (const char* word : {"poisson2d, n = 50000", "petsc64-dev", "--preset petsc64"})
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trireme
