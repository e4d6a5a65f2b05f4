// SPDX-License-Identifier: BSD-3-Clause
// From an assembled Mat to a slab of rows, an operator, and a shell.
#include "petsc/mat_trireme.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"
#include "petsc/log_events.hpp"
#include "petsc/mat_shell.hpp"
#include "petsc/shim.hpp"
#include "planning/choose.hpp"

namespace trireme {
namespace {

// Calls row(count, columns, values) for each local row.
template <class Row>
void for_each_row(Mat mat, Row&& row) {
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(mat, &first, &last));
  for (PetscInt r = first; r < last; ++r) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* values = nullptr;
    petsc_check(MatGetRow(mat, r, &count, &columns, &values));
    row(count, columns, values);
    petsc_check(MatRestoreRow(mat, r, &count, &columns, &values));
  }
}

RowSlab slab_of(Mat mat) {
  RowSlab slab;
  PetscInt rows = 0, cols = 0, first = 0, last = 0;
  petsc_check(MatGetSize(mat, &rows, &cols));
  petsc_check(MatGetOwnershipRange(mat, &first, &last));
  slab.global_rows = rows;
  slab.global_cols = cols;
  slab.first_row = first;
  CsrMatrix<double>& local = slab.local;
  local.rows = last - first;
  local.cols = cols;
  local.row_ptr.reserve(local.rows + 1);
  for_each_row(mat, [&](PetscInt count, const PetscInt*, const PetscScalar*) {
    local.row_ptr.push_back(local.row_ptr.back() + static_cast<std::int32_t>(count));
  });
  local.col_idx.reserve(local.row_ptr.back());
  local.values.reserve(local.row_ptr.back());
  for_each_row(mat, [&](PetscInt count, const PetscInt* columns, const PetscScalar* values) {
    for (PetscInt k = 0; k < count; ++k) {
      local.col_idx.push_back(static_cast<std::int32_t>(columns[k]));
      local.values.push_back(values[k]);
    }
  });
  return slab;
}

std::vector<std::int64_t> row_starts_of(Mat mat) {
  const PetscInt* rows = nullptr;
  petsc_check(MatGetOwnershipRanges(mat, &rows));
  return {rows, rows + size_of(comm_of(mat)) + 1};
}

void require_split_alike(Mat mat) {
  PetscInt row = 0, row_end = 0, col = 0, col_end = 0;
  petsc_check(MatGetOwnershipRange(mat, &row, &row_end));
  petsc_check(MatGetOwnershipRangeColumn(mat, &col, &col_end));
  if (row != col || row_end != col_end)
    fail(ExitCode::usage, "MatCreateTrireme: rows and columns must be square and split alike");
}

}  // namespace
}  // namespace trireme

PetscErrorCode MatCreateTrireme(Mat assembled, const trireme::TriremeOptions& options, Mat* shell) {
  using namespace trireme;
  const MPI_Comm comm = comm_of(assembled);
  return petsc_guard(comm, [&] {
    const PetscLogEvent build = log_events().build;
    petsc_check(PetscLogEventBegin(build, assembled, 0, 0, 0));
    RowSlab slab;
    collectively(comm, [&] {
      require_split_alike(assembled);
      slab = slab_of(assembled);
    });
    slab.global_nnz = sum_over_ranks(comm, slab.local.nnz());
    auto matrix = distribute(comm, std::move(slab), row_starts_of(assembled));
    const std::string kernel =
        options.kernel == "auto" ? std::string(choose_kernel(Device::cpu, {})) : options.kernel;
    *shell = make_shell(std::make_shared<HostOperator>(std::move(matrix), kernel)).release();
    petsc_check(PetscLogEventEnd(build, assembled, 0, 0, 0));
  });
}

PetscErrorCode MatTriremeUpdateValues(Mat shell, Mat assembled) {
  using namespace trireme;
  const MPI_Comm comm = comm_of(assembled);
  return petsc_guard(comm, [&] {
    collectively(comm, [&] {
      const auto op = shell_operator(shell);
      if (!op) fail(ExitCode::usage, "MatTriremeUpdateValues: the first Mat is no Trireme shell");
      std::vector<double> values;
      values.reserve(op->matrix().blocks.nnz());
      for_each_row(assembled, [&](PetscInt count, const PetscInt*, const PetscScalar* row) {
        values.insert(values.end(), row, row + count);
      });
      op->update_values(values);
    });
    // What tells a preconditioner that the operator has changed.
    petsc_check(MatAssemblyBegin(shell, MAT_FINAL_ASSEMBLY));
    petsc_check(MatAssemblyEnd(shell, MAT_FINAL_ASSEMBLY));
  });
}
