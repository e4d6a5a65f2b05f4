// SPDX-License-Identifier: BSD-3-Clause
// The installed header <trireme/petsc.h>: its names are registered, its functions do what they say;
// run on 1 and 3 ranks.
#include <gtest/gtest.h>
#include <trireme/petsc.h>

#include <string>

#include "petsc/coo.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat_trireme_fixture.hpp"
#include "support/petsc_environment.hpp"
#include "support/refusal.hpp"

namespace trireme {
namespace {

using namespace test;

TEST(PublicHeader, NamesTypesThatAreRegistered) {
  petsc_check(TriremeInitializePackage());
  petsc_check(TriremeInitializePackage());
  for (const char* type : {MATTRIREME, MATSEQAIJTRIREME, MATMPIAIJTRIREME}) {
    if (type == std::string(MATSEQAIJTRIREME) && size_of(MPI_COMM_WORLD) > 1) continue;
    MatHandle mat;
    petsc_check(MatCreate(MPI_COMM_WORLD, mat.put()));
    EXPECT_EQ(MatSetType(mat, type), kPetscSuccess) << type;
  }
  for (const char* type : {KSPTRIREMECG, KSPTRIREMEBICGSTAB, KSPTRIREMEMINRES}) {
    KspHandle ksp;
    petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
    EXPECT_EQ(KSPSetType(ksp, type), kPetscSuccess) << type;
  }
  for (const char* type :
       {PCTRIREMEBLOCKJACOBI, PCTRIREMEPBJACOBI, PCTRIREMEVPBJACOBI, PCTRIREMECHEBYSHEV}) {
    PetscHandle<PC, PCDestroy> pc;
    petsc_check(PCCreate(MPI_COMM_WORLD, pc.put()));
    EXPECT_EQ(PCSetType(pc, type), kPetscSuccess) << type;
  }
}

TEST(MatCreateTrireme, FollowsTheValuesOfTheMatrixThatItWasMadeOf) {
  const MatHandle a = aij_of(dominant_matrix(50, 0.5), Cut::by_nonzeros);
  const MatHandle mat = trireme_of(a, "csr");
  EXPECT_LT(relative_difference(a, mat, mult), 1e-15);
  const MatHandle changed = aij_of(dominant_matrix(50, 7), Cut::by_nonzeros);
  petsc_check(MatTriremeUpdateValues(mat, changed));
  EXPECT_LT(relative_difference(changed, mat, mult), 1e-15);
  EXPECT_EQ(relative_difference(changed, mat, diagonal), 0);
  EXPECT_EQ(products_of(mat).builds(), 1);
  EXPECT_EQ(products_of(mat).updates(), 1);
  EXPECT_NE(message_of(MatTriremeUpdateValues(changed, a)).find("not of type trireme"),
            std::string::npos);
}

// The nonzeros are as many in each block of each rank.
TEST(MatCreateTrireme, RefusesValuesForOtherPlaces) {
  const MatHandle a = aij_of(dominant_matrix(50), Cut::by_nonzeros);
  set_by_coordinates(a, 1);
  const MatHandle mat = trireme_of(a, "csr");
  const MatHandle other = aij_of(dominant_matrix(50), Cut::by_nonzeros);
  for (const PetscInt distance : {49, 9}) {
    set_by_coordinates(other, distance);
    EXPECT_NE(message_of(MatTriremeUpdateValues(mat, other)).find("at different places"),
              std::string::npos);
    EXPECT_LT(relative_difference(a, mat, mult), 1e-15);
  }
  MatHandle baij;
  petsc_check(MatConvert(a, MATBAIJ, MAT_INITIAL_MATRIX, baij.put()));
  petsc_check(MatScale(baij, 2));
  petsc_check(MatTriremeUpdateValues(mat, baij));
  EXPECT_LT(relative_difference(baij, mat, mult), 1e-15);
}

TEST(MatCreateTrireme, RefusesAnUnknownKernel) {
  const MatHandle a = aij_of(dominant_matrix(50), Cut::by_nonzeros);
  Mat made = nullptr;
  const std::string message = message_of(MatCreateTrireme(a, "csrr", nullptr, nullptr, &made));
  EXPECT_NE(message.find("unknown kernel 'csrr'"), std::string::npos) << message;
  EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace trireme
