// SPDX-License-Identifier: BSD-3-Clause
// AIJ matrices of known entries, and the same as Mats of type trireme.
#pragma once

#include <gtest/gtest.h>
#include <trireme/petsc.h>

#include <string>
#include <vector>

#include "distributed/matrix_on_ranks.hpp"
#include "petsc/compare_mats.hpp"
#include "petsc/mat/mat_trireme.hpp"
#include "petsc/shim.hpp"
#include "support/random.hpp"
#include "support/shapes.hpp"

namespace trireme::test {

inline void assemble(Mat mat) {
  petsc_check(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
}

// Rows cut as `cut` says; columns likewise where the matrix is square, else as PETSc decides.
inline MatHandle aij_of(const CsrMatrix<double>& a, Cut cut) {
  const std::vector<std::int64_t> starts = row_starts(a, size_of(MPI_COMM_WORLD), cut);
  const int rank = rank_of(MPI_COMM_WORLD);
  const auto first = static_cast<PetscInt>(starts[rank]);
  const auto last = static_cast<PetscInt>(starts[rank + 1]);
  MatHandle mat;
  petsc_check(MatCreate(MPI_COMM_WORLD, mat.put()));
  petsc_check(MatSetSizes(mat, last - first, a.rows == a.cols ? last - first : PETSC_DECIDE,
                          static_cast<PetscInt>(a.rows), static_cast<PetscInt>(a.cols)));
  petsc_check(MatSetType(mat, MATAIJ));
  std::vector<PetscInt> lengths;
  for (PetscInt row = first; row < last; ++row)
    lengths.push_back(a.row_ptr[row + 1] - a.row_ptr[row]);
  petsc_check(MatSeqAIJSetPreallocation(mat, 0, lengths.data()));
  petsc_check(MatMPIAIJSetPreallocation(mat, 0, lengths.data(), 0, lengths.data()));
  petsc_check(MatSetOption(mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt row = first; row < last; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      petsc_check(MatSetValue(mat, row, a.col_idx[k], a.values[k], INSERT_VALUES));
  assemble(mat);
  return mat;
}

inline MatHandle trireme_of(Mat aij, const char* kernel = nullptr, const char* device = nullptr,
                            const char* precision = nullptr) {
  Mat made = nullptr;
  petsc_check(MatCreateTrireme(aij, kernel, device, precision, &made));
  return MatHandle(made);
}

// Symmetric, diagonally dominant, about 7 nonzeros per row.
inline CsrMatrix<double> dominant_matrix(std::int64_t rows, double shift = 0) {
  CsrMatrix<double> a;
  a.rows = a.cols = rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int64_t distance : {-37, -11, -1, 0, 1, 11, 37}) {
      const std::int64_t column = row + distance;
      if (column < 0 || column >= rows) continue;
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      const std::int64_t smaller = std::min(row, column);
      a.values.push_back(distance == 0 ? 7 + shift : -0.9 + 0.1 * (smaller % 5));
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

inline std::string type_of(Mat mat) {
  MatType type = nullptr;
  petsc_check(MatGetType(mat, &type));
  return type;
}

// Solves A x = b by `type` and the preconditioner to 1e-9; returns the relative residual by AIJ.
inline double residual_of_solve(Mat mat, Mat aij, const char* type, KSP ksp,
                                const char* preconditioner = PCJACOBI) {
  VecHandle x, b, r;
  petsc_check(MatCreateVecs(aij, x.put(), b.put()));
  petsc_check(VecDuplicate(b, r.put()));
  petsc_check(VecSet(b, 1));
  petsc_check(KSPSetOperators(ksp, mat, mat));
  petsc_check(KSPSetType(ksp, type));
  petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, preconditioner));
  petsc_check(KSPSolve(ksp, b, x));
  petsc_check(MatMult(aij, x, r));
  petsc_check(VecAYPX(r, -1, b));
  PetscReal norm = 0, norm_b = 0;
  petsc_check(VecNorm(r, NORM_2, &norm));
  petsc_check(VecNorm(b, NORM_2, &norm_b));
  return norm / norm_b;
}

inline std::string message_of(PetscErrorCode error) {
  try {
    petsc_check(error);
  } catch (const Error& thrown) {
    return thrown.what();
  }
  return "";
}

}  // namespace trireme::test
