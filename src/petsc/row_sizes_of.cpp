// SPDX-License-Identifier: BSD-3-Clause
// From our matrix, or by PETSc's functions for AIJ.
#include "petsc/row_sizes_of.hpp"

#include <utility>

#include "petsc/shim.hpp"
#include "petsc/vectors.hpp"

namespace trireme {

RowSizes row_sizes_of(Mat mat, const Operator* op) {
  if (op) return row_sizes(op->matrix());
  PetscBool aij = PETSC_FALSE;
  petsc_check(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(mat), &aij, MATSEQAIJ,
                                            MATMPIAIJ, ""));
  if (!aij) return {};
  VecHandle of_rows;
  petsc_check(MatCreateVecs(mat, nullptr, of_rows.put()));
  petsc_check(MatGetRowMaxAbs(mat, of_rows, nullptr));
  return row_sizes(comm_of(mat), local_values(of_rows), [&] {
    petsc_check(MatGetDiagonal(mat, of_rows));
    return local_values(of_rows);
  });
}

}  // namespace trireme
