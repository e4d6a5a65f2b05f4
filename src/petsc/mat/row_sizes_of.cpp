// SPDX-License-Identifier: BSD-3-Clause
// From our matrix, or by PETSc's functions.
#include "petsc/mat/row_sizes_of.hpp"

#include <utility>

#include "petsc/shim.hpp"
#include "petsc/vectors.hpp"

namespace trireme {

namespace {

bool has_row_sizes(Mat mat) {
  PetscBool has = PETSC_FALSE;
  petsc_check(PetscObjectBaseTypeCompareAny(object_of(mat), &has, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ,
                                            MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (has) petsc_check(MatHasOperation(mat, MATOP_GET_ROW_MAX_ABS, &has));
  return has == PETSC_TRUE;
}

}  // namespace

RowSizes row_sizes_of(Mat amat, const Operator* op, Mat pmat) {
  if (op) return row_sizes(op->matrix());
  Mat mat = has_row_sizes(amat) ? amat : pmat;
  if (!has_row_sizes(mat)) return {};
  VecHandle of_rows;
  petsc_check(MatCreateVecs(mat, nullptr, of_rows.put()));
  petsc_check(MatGetRowMaxAbs(mat, of_rows, nullptr));
  return row_sizes(comm_of(mat), local_values(of_rows), [&] {
    petsc_check(MatGetDiagonal(mat, of_rows));
    return local_values(of_rows);
  });
}

}  // namespace trireme
