// SPDX-License-Identifier: BSD-3-Clause
// The Mat type trireme against AIJ, on edge shapes, through changes, conversions and options; run
// on 1 and 3 ranks.
#include "petsc/mat/mat_trireme.hpp"

#include <gtest/gtest.h>
#include <trireme/petsc.h>

#include <string>
#include <tuple>

#include "device/device.hpp"
#include "petsc/coo.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat_trireme_fixture.hpp"
#include "support/petsc_environment.hpp"
#include "support/refusal.hpp"

namespace trireme {
namespace {

using namespace test;

const auto mult_add = [](Mat a, Vec x, Vec y) {
  VecHandle addend;
  petsc_check(VecDuplicate(y, addend.put()));
  petsc_check(VecSet(addend, 2));
  petsc_check(MatMultAdd(a, x, addend, y));
};
const auto mult_add_in_place = [](Mat a, Vec x, Vec y) {
  petsc_check(VecSet(y, 2));
  petsc_check(MatMultAdd(a, x, y, y));
};

class MatTriremeOnShape : public testing::TestWithParam<std::tuple<std::string, Cut>> {};

TEST_P(MatTriremeOnShape, AgreesWithAijByEveryKernel) {
  const auto& [name, cut] = GetParam();
  const CsrMatrix<double> shape = contract_shape<double>(name);
  const MatHandle aij = aij_of(shape, cut);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.host_double || must_refuse(entry.name, shape.view())) continue;
    SCOPED_TRACE(entry.name);
    const MatHandle mat = trireme_of(aij, std::string(entry.name).c_str(), "cpu");
    EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
    EXPECT_LT(relative_difference(aij, mat, mult_add), 1e-14);
    EXPECT_LT(relative_difference(aij, mat, mult_add_in_place), 1e-14);
    const Operator* op = products_of(mat).current();
    PetscInt rows = 0, columns = 0;
    petsc_check(MatGetSize(aij, &rows, &columns));
    if (rows == columns) {
      EXPECT_EQ(relative_difference(aij, mat, diagonal), 0);
    }
    ASSERT_EQ(op != nullptr, rows == columns) << "AIJ multiplies by a rectangular matrix";
    if (op) {
      EXPECT_EQ(op->kernel(), entry.name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatTriremeOnShape,
                         testing::Values(std::tuple("SomeRowsEmpty", Cut::by_nonzeros),
                                         std::tuple("SomeRowsEmpty", Cut::first_rank_empty),
                                         std::tuple("OneByOne", Cut::first_rank_empty),
                                         std::tuple("AllRowsEmpty", Cut::by_nonzeros),
                                         std::tuple("OneDenseRow", Cut::by_nonzeros),
                                         std::tuple("Tall", Cut::by_nonzeros),
                                         std::tuple("Wide", Cut::first_rank_empty)));

class MatTrireme : public testing::Test {
 protected:
  void SetUp() override {
    petsc_check(PetscOptionsClear(nullptr));
    aij = aij_of(dominant_matrix(300), Cut::by_nonzeros);
    mat = trireme_of(aij);
  }
  void TearDown() override { petsc_check(PetscOptionsClear(nullptr)); }

  // Both matrices are changed; afterwards they are the same, and this many builds and updates have
  // been made.
  template <class Change>
  void expect_after(const char* what, const Change& change, int builds, int updates) {
    SCOPED_TRACE(what);
    change(aij);
    change(mat);
    EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
    EXPECT_LT(relative_difference(aij, mat, mult_transpose), 1e-14);
    EXPECT_EQ(products_of(mat).builds(), builds);
    EXPECT_EQ(products_of(mat).updates(), updates);
  }

  MatHandle aij, mat;
};

TEST_F(MatTrireme, IsBuiltByTheFirstProduct) {
  EXPECT_EQ(products_of(mat).current(), nullptr);
  expect_after(
      "two products", [](Mat) {}, 1, 0);
  expect_after(
      "two more", [](Mat) {}, 1, 0);
}

TEST_F(MatTrireme, HandsNewValuesToTheSameKernelOnce) {
  expect_after(
      "nothing", [](Mat) {}, 1, 0);
  int updates = 0;
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(mat, &first, &last));
  const auto set = [&](Mat a) {
    for (PetscInt row = first; row < last; ++row)
      petsc_check(MatSetValue(a, row, row, 11 + row % 3, INSERT_VALUES));
    assemble(a);
  };
  expect_after("MatSetValues", set, 1, ++updates);
  expect_after(
      "MatScale", [](Mat a) { petsc_check(MatScale(a, 3)); }, 1, ++updates);
  expect_after(
      "MatShift", [](Mat a) { petsc_check(MatShift(a, 0.5)); }, 1, ++updates);
  const auto scale_rows = [](Mat a) {
    VecHandle left, right;
    petsc_check(MatCreateVecs(a, right.put(), left.put()));
    petsc_check(VecSet(left, 2));
    petsc_check(VecSet(right, 0.75));
    petsc_check(MatDiagonalScale(a, left, right));
  };
  expect_after("MatDiagonalScale", scale_rows, 1, ++updates);
  const auto set_diagonal = [](Mat a) {
    VecHandle d;
    petsc_check(MatCreateVecs(a, nullptr, d.put()));
    petsc_check(VecSet(d, 4));
    petsc_check(MatDiagonalSet(a, d, INSERT_VALUES));
  };
  expect_after("MatDiagonalSet", set_diagonal, 1, ++updates);
  const MatHandle other = aij_of(dominant_matrix(300, 5), Cut::by_nonzeros);
  const auto add = [&](Mat a) { petsc_check(MatAXPY(a, 2, other, SAME_NONZERO_PATTERN)); };
  expect_after("MatAXPY", add, 1, ++updates);
  const auto copy = [&](Mat a) { petsc_check(MatCopy(other, a, SAME_NONZERO_PATTERN)); };
  expect_after("MatCopy", copy, 1, ++updates);
  const auto zero_rows = [&](Mat a) {
    petsc_check(MatSetOption(a, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    petsc_check(MatZeroRows(a, last > first ? 1 : 0, &first, 9, nullptr, nullptr));
  };
  expect_after("MatZeroRows", zero_rows, 1, ++updates);
  const auto by_array = [](Mat a) {
    Mat block = blocks_of(a).diagonal;
    PetscScalar* values = nullptr;
    petsc_check(MatSeqAIJGetArray(block, &values));
    values[0] += 1;
    petsc_check(MatSeqAIJRestoreArray(block, &values));
  };
  expect_after("the array of a block", by_array, 1, ++updates);
  expect_after(
      "MatZeroEntries", [](Mat a) { petsc_check(MatZeroEntries(a)); }, 1, ++updates);
  expect_after(
      "no change", [](Mat) {}, 1, updates);
}

TEST_F(MatTrireme, IsBuiltAnewForAnotherPattern) {
  expect_after(
      "nothing", [](Mat) {}, 1, 0);
  const auto fill = [](Mat a) {
    petsc_check(MatSetOption(a, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    petsc_check(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (rank_of(MPI_COMM_WORLD) == 0) petsc_check(MatSetValue(a, 2, 290, 3, INSERT_VALUES));
    assemble(a);
  };
  expect_after("a new nonzero on one rank", fill, 2, 0);
  const auto zero_rows = [](Mat a) {
    const PetscInt row = 5;
    petsc_check(MatZeroRows(a, rank_of(MPI_COMM_WORLD) == 0 ? 1 : 0, &row, 1, nullptr, nullptr));
  };
  expect_after("MatZeroRows that removes nonzeros", zero_rows, 3, 0);
  const auto transpose = [](Mat a) {
    Mat same = a;
    petsc_check(MatTranspose(a, MAT_INPLACE_MATRIX, &same));
  };
  transpose(aij);
  transpose(mat);
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-14) << "transposed in place";
}

// The new blocks have counters like those of the old ones.
TEST_F(MatTrireme, NoticesAnotherPatternByCoordinates) {
  int builds = 0;
  for (const PetscInt distance : {1, 299, 1, 50, 299}) {
    SCOPED_TRACE(distance);
    const auto set = [&](Mat a) { set_by_coordinates(a, distance); };
    expect_after("MatSetPreallocationCOO", set, ++builds, 0);
  }
  KspHandle ksp;
  petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
  for (const PetscInt distance : {1, 299}) {
    set_by_coordinates(aij, distance);
    set_by_coordinates(mat, distance);
    EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMEBICGSTAB, ksp), 1.001e-9) << distance;
  }
}

TEST_F(MatTrireme, GivesDuplicatesTheirOwnValuesAndTheSameSettings) {
  petsc_check(MatTriremeSetKernel(mat, "sell"));
  expect_after(
      "nothing", [](Mat) {}, 1, 0);
  MatHandle twin, pattern;
  petsc_check(MatDuplicate(mat, MAT_COPY_VALUES, twin.put()));
  EXPECT_EQ(type_of(twin), type_of(mat));
  EXPECT_EQ(products_of(twin).settings(), products_of(mat).settings());
  petsc_check(MatScale(twin, 2));
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
  petsc_check(MatScale(aij, 2));
  EXPECT_LT(relative_difference(aij, twin, mult), 1e-14);
  mat.reset();
  EXPECT_LT(relative_difference(aij, twin, mult), 1e-14) << "outlives its original";
  petsc_check(MatDuplicate(twin, MAT_DO_NOT_COPY_VALUES, pattern.put()));
  petsc_check(MatCopy(aij, pattern, SAME_NONZERO_PATTERN));
  EXPECT_LT(relative_difference(aij, pattern, mult), 1e-14);
}

TEST_F(MatTrireme, GoesThroughTheOperationsOfAij) {
  relative_difference(aij, mat, mult);
  const auto expect_same = [](Mat of_aij, Mat of_trireme, const char* what) {
    EXPECT_LT(relative_difference(of_aij, of_trireme, mult), 1e-13) << what;
  };
  MatHandle left, right;
  PetscReal norm = 0, expected = 0;
  for (const NormType kind : {NORM_1, NORM_FROBENIUS, NORM_INFINITY}) {
    petsc_check(MatNorm(aij, kind, &expected));
    petsc_check(MatNorm(mat, kind, &norm));
    EXPECT_EQ(norm, expected);
  }
  petsc_check(MatTranspose(aij, MAT_INITIAL_MATRIX, left.put()));
  petsc_check(MatTranspose(mat, MAT_INITIAL_MATRIX, right.put()));
  expect_same(left, right, "MatTranspose");
  petsc_check(MatMatMult(aij, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, left.put()));
  petsc_check(MatMatMult(mat, mat, MAT_INITIAL_MATRIX, PETSC_DEFAULT, right.put()));
  expect_same(left, right, "MatMatMult");
  petsc_check(MatMatMult(mat, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, right.put()));
  expect_same(left, right, "MatMatMult with an AIJ matrix");
  petsc_check(MatPtAP(aij, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, left.put()));
  petsc_check(MatPtAP(mat, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, right.put()));
  expect_same(left, right, "MatPtAP");
  MatHandle dense;
  petsc_check(MatConvert(aij, MATDENSE, MAT_INITIAL_MATRIX, dense.put()));
  petsc_check(MatMatMult(aij, dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, left.put()));
  petsc_check(MatMatMult(mat, dense, MAT_INITIAL_MATRIX, PETSC_DEFAULT, right.put()));
  expect_same(left, right, "MatMatMult with a dense matrix");
  IS rows = nullptr;
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(mat, &first, &last));
  petsc_check(ISCreateStride(MPI_COMM_WORLD, (last - first) / 2, first, 2, &rows));
  petsc_check(MatCreateSubMatrix(aij, rows, rows, MAT_INITIAL_MATRIX, left.put()));
  petsc_check(MatCreateSubMatrix(mat, rows, rows, MAT_INITIAL_MATRIX, right.put()));
  petsc_check(ISDestroy(&rows));
  expect_same(left, right, "MatCreateSubMatrix");
  const auto relax = [](Mat a, Vec b, Vec x) {
    petsc_check(VecSet(x, 0));
    petsc_check(MatSOR(a, b, 1, SOR_LOCAL_SYMMETRIC_SWEEP, 0, 1, 1, x));
  };
  EXPECT_LT(relative_difference(aij, mat, relax), 1e-14);
  PetscBool equal = PETSC_FALSE;
  petsc_check(MatMultEqual(aij, mat, 3, &equal));
  EXPECT_TRUE(equal);
  EXPECT_EQ(products_of(mat).builds(), 1);
}

TEST_F(MatTrireme, IsConvertedFromAndToOtherTypes) {
  const std::string aij_type = type_of(aij), own_type = type_of(mat);
  EXPECT_EQ(own_type, aij_type + "trireme");
  MatHandle other;
  petsc_check(MatConvert(mat, MATAIJ, MAT_INITIAL_MATRIX, other.put()));
  EXPECT_EQ(type_of(other), aij_type);
  EXPECT_LT(relative_difference(aij, other, mult), 1e-15);
  EXPECT_EQ(type_of(mat), own_type);
  for (const char* type : {MATDENSE, MATBAIJ, MATAIJPERM}) {
    SCOPED_TRACE(type);
    MatHandle there, back;
    petsc_check(MatConvert(mat, type, MAT_INITIAL_MATRIX, there.put()));
    EXPECT_LT(relative_difference(aij, there, mult), 1e-14);
    petsc_check(MatConvert(there, MATTRIREME, MAT_INITIAL_MATRIX, back.put()));
    EXPECT_EQ(type_of(back), own_type);
    EXPECT_LT(relative_difference(aij, back, mult), 1e-14);
  }
  petsc_check(MatScale(mat, 2));
  Mat reused = other;
  petsc_check(MatConvert(mat, MATAIJ, MAT_REUSE_MATRIX, &reused));
  petsc_check(MatScale(aij, 2));
  EXPECT_LT(relative_difference(aij, other, mult), 1e-15);

  Mat same = mat;
  petsc_check(MatConvert(mat, MATAIJ, MAT_INPLACE_MATRIX, &same));
  EXPECT_EQ(type_of(mat), aij_type);
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-15);
  petsc_check(MatConvert(mat, MATTRIREME, MAT_INPLACE_MATRIX, &same));
  EXPECT_EQ(type_of(mat), own_type);
  petsc_check(MatConvert(mat, MATTRIREME, MAT_INPLACE_MATRIX, &same));
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
  petsc_check(MatSetType(aij, MATTRIREME));
  EXPECT_EQ(type_of(aij), own_type) << "an assembled AIJ matrix keeps its entries";
  EXPECT_LT(relative_difference(mat, aij, mult), 1e-14);
}

// PETSc gives the matrix the content of a new one.
TEST_F(MatTrireme, IsWholeAfterItsContentIsReplaced) {
  petsc_check(PetscOptionsSetValue(nullptr, "-mat_trireme_kernel", "sell"));
  const MatHandle other = aij_of(dominant_matrix(300, 5), Cut::by_nonzeros);
  set_by_coordinates(other, 50);
  const auto add = [&](Mat a) { petsc_check(MatAXPY(a, 2, other, DIFFERENT_NONZERO_PATTERN)); };
  const auto transpose = [](Mat a) {
    Mat same = a;
    petsc_check(MatTranspose(a, MAT_INPLACE_MATRIX, &same));
  };
  const std::string own_type = type_of(mat);
  relative_difference(aij, mat, mult);
  for (const bool first : {true, false}) {
    SCOPED_TRACE(first ? "MatAXPY" : "MatTranspose");
    for (Mat a : {static_cast<Mat>(aij), static_cast<Mat>(mat)}) first ? add(a) : transpose(a);
    EXPECT_EQ(type_of(mat), own_type);
    EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
    EXPECT_EQ(products_of(mat).current()->kernel(), "sell");
    MatHandle dense, product, expected;
    petsc_check(MatConvert(aij, MATDENSE, MAT_INITIAL_MATRIX, dense.put()));
    petsc_check(MatMatMult(dense, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, expected.put()));
    petsc_check(MatMatMult(dense, mat, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.put()));
    EXPECT_LT(relative_difference(expected, product, mult), 1e-13);
  }
  KspHandle ksp;
  petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
  EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMEBICGSTAB, ksp), 1.001e-9);
  Mat same = mat;
  petsc_check(MatConvert(mat, MATAIJ, MAT_INPLACE_MATRIX, &same));
  EXPECT_EQ(type_of(mat), type_of(aij));
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
}

TEST_F(MatTrireme, ReadsItsOptionsWithItsPrefix) {
  const auto option = [](const char* name, const char* value) {
    petsc_check(PetscOptionsSetValue(nullptr, name, value));
  };
  option("-mat_trireme_kernel", "csr");
  option("-fine_mat_type", "trireme");
  option("-fine_mat_trireme_kernel", "sell");
  option("-fine_mat_trireme_precision", "mixed");
  MatHandle fine;
  petsc_check(MatCreate(MPI_COMM_WORLD, fine.put()));
  petsc_check(MatSetSizes(fine, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE));
  petsc_check(MatSetOptionsPrefix(fine, "fine_"));
  petsc_check(MatSetFromOptions(fine));
  EXPECT_EQ(products_of(fine).settings(),
            (ProductSettings{.kernel = "sell", .device = {}, .precision = Precision::mixed}));

  expect_after(
      "no MatSetFromOptions", [](Mat) {}, 1, 0);
  EXPECT_EQ(products_of(mat).current()->kernel(), "csr") << "the first product reads the options";
  option("-mat_trireme_kernel", "teb");
  petsc_check(MatSetFromOptions(mat));
  expect_after(
      "MatSetFromOptions", [](Mat) {}, 2, 0);
  EXPECT_EQ(products_of(mat).current()->kernel(), "teb");
  const MatHandle by_call = trireme_of(aij, "albus");
  relative_difference(aij, by_call, mult);
  EXPECT_EQ(products_of(by_call).current()->kernel(), "albus") << "a call comes before the options";
}

TEST_F(MatTrireme, RefusesUnknownWordsInOneLine) {
  EXPECT_NE(message_of(MatTriremeSetKernel(mat, "csrr")).find("unknown kernel 'csrr'"),
            std::string::npos);
  EXPECT_NE(message_of(MatTriremeSetDevice(mat, "gpu")).find("auto, cpu and cuda"),
            std::string::npos);
  EXPECT_NE(message_of(MatTriremeSetPrecision(mat, "half")).find("double and mixed"),
            std::string::npos);
  petsc_check(PetscOptionsSetValue(nullptr, "-mat_trireme_kernel", "csrr"));
  EXPECT_NE(message_of(MatSetFromOptions(mat)).find("unknown kernel 'csrr'"), std::string::npos);
  expect_after(
      "MatSetFromOptions of another kernel", [](Mat) { petsc_check(PetscOptionsClear(nullptr)); },
      1, 0);
  EXPECT_EQ(MatTriremeSetKernel(aij, "csrr"), kPetscSuccess) << "another type is left alone";
}

TEST_F(MatTrireme, RefusesAGpuThatIsNotThere) {
  if (cuda_available()) GTEST_SKIP() << "there is a GPU";
  petsc_check(MatTriremeSetDevice(mat, "cuda"));
  VecHandle x, y;
  petsc_check(MatCreateVecs(mat, x.put(), y.put()));
  petsc_check(VecSet(x, 1));
  const std::string message = message_of(MatMult(mat, x, y));
  EXPECT_NE(message.find("-mat_trireme_device cuda: there is no usable GPU"), std::string::npos)
      << message;
  petsc_check(MatTriremeSetDevice(mat, "cpu"));
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-14);
}

// Whether the products of the last solve were those of the operator. On a GPU, one kernel solves
// small systems alone, and keeps the entries in double.
bool was_by_the_operator(KSP ksp) { return ksp_facts(ksp)->executor != kPersistentExecutor; }

TEST_F(MatTrireme, IsWhatAResidentKspRunsOn) {
  for (const char* precision : {"double", "mixed"}) {
    SCOPED_TRACE(precision);
    petsc_check(MatTriremeSetPrecision(mat, precision));
    KspHandle ksp;
    petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
    EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
    EXPECT_EQ(ksp_facts(ksp)->mixed, std::string(precision) == "mixed" && was_by_the_operator(ksp));
    petsc_check(MatScale(mat, 1.5));
    petsc_check(MatScale(aij, 1.5));
    petsc_check(MatShift(mat, 3));
    petsc_check(MatShift(aij, 3));
    EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9) << "follows new values";
    EXPECT_LT(relative_difference(aij, mat, mult), 1e-14) << "MatMult is exact";
  }
}

// A block alone, which PETSc does not count as a change of a matrix on several ranks.
TEST_F(MatTrireme, AResidentKspFollowsTheArrayOfABlock) {
  const auto change = [](Mat a) {
    Mat block = blocks_of(a).diagonal;
    VecHandle d;
    petsc_check(MatCreateVecs(block, nullptr, d.put()));
    PetscInt rows = 0;
    petsc_check(VecGetSize(d, &rows));
    for (PetscInt row = 0; row < rows; ++row)
      petsc_check(VecSetValue(d, row, 20.0 * (row % 7), INSERT_VALUES));
    petsc_check(MatDiagonalSet(block, d, ADD_VALUES));
  };
  const auto iterations = [](KSP of) {
    PetscInt count = 0;
    petsc_check(KSPGetIterationNumber(of, &count));
    return count;
  };
  KspHandle ksp, fresh;
  petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
  EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
  for (int k = 0; k < 2; ++k) {
    change(aij);
    change(mat);
    EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
    EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
    petsc_check(KSPCreate(MPI_COMM_WORLD, fresh.put()));
    residual_of_solve(mat, aij, KSPTRIREMECG, fresh);
    EXPECT_EQ(iterations(ksp), iterations(fresh)) << "the preconditioner follows too";
  }
  EXPECT_EQ(products_of(mat).builds(), 1);
}

// The same KSP notices what is asked of the products between two solves.
TEST_F(MatTrireme, OtherSettingsBetweenSolvesReachTheSameKsp) {
  KspHandle ksp;
  petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
  EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
  EXPECT_FALSE(ksp_facts(ksp)->mixed);
  petsc_check(MatTriremeSetPrecision(mat, "mixed"));
  EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
  EXPECT_EQ(ksp_facts(ksp)->mixed, was_by_the_operator(ksp));
  petsc_check(MatTriremeSetPrecision(mat, "double"));
  for (const char* kernel : {"sell", "teb"}) {
    petsc_check(MatTriremeSetKernel(mat, kernel));
    EXPECT_LT(residual_of_solve(mat, aij, KSPTRIREMECG, ksp), 1.001e-9);
    EXPECT_FALSE(ksp_facts(ksp)->mixed);
    EXPECT_EQ(products_of(mat).current()->kernel(), kernel);
    if (ksp_facts(ksp)->executor == "host") {  // which counts the products of its loop
      EXPECT_GT(products_of(mat).products_since_build(), 5) << "by this kernel";
    }
  }
  const int builds = products_of(mat).builds();
  petsc_check(MatTriremeSetKernel(mat, "teb"));
  residual_of_solve(mat, aij, KSPTRIREMECG, ksp);
  EXPECT_EQ(products_of(mat).builds(), builds) << "nothing else was asked for";
}

TEST_F(MatTrireme, IsExactForOtherKspsInMixedPrecision) {
  petsc_check(MatTriremeSetPrecision(mat, "mixed"));
  expect_after(
      "mixed", [](Mat) {}, 1, 0);
  EXPECT_TRUE(products_of(mat).current()->inexact());
  KspHandle ksp;
  petsc_check(KSPCreate(MPI_COMM_WORLD, ksp.put()));
  EXPECT_LT(residual_of_solve(mat, aij, KSPCG, ksp), 1.001e-9);
}

TEST_F(MatTrireme, FollowsValuesThatFp32HoldsAndThoseThatItDoesNot) {
  petsc_check(MatTriremeSetPrecision(mat, "mixed"));
  const auto set = [](double value) {
    return [value](Mat a) {
      petsc_check(MatZeroEntries(a));
      petsc_check(MatShift(a, value));
    };
  };
  expect_after("0.1", set(0.1), 1, 0);
  EXPECT_TRUE(products_of(mat).current()->inexact());
  petsc_check(MatTriremeSetKernel(mat, "csr"));
  set(0.5)(aij);
  set(0.5)(mat);
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-15);
  EXPECT_FALSE(products_of(mat).current()->inexact());
  set(0.1)(aij);
  set(0.1)(mat);
  EXPECT_LT(relative_difference(aij, mat, mult), 1e-15);
  EXPECT_TRUE(products_of(mat).current()->inexact());
}

}  // namespace
}  // namespace trireme
