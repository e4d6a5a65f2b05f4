// SPDX-License-Identifier: BSD-3-Clause
// MatMult on the arrays of the resident engine, and the diagonals and blocks of a Mat.
#include "petsc/mat/mat_system.hpp"

#include <mpi.h>

#include <utility>

#include "parallel/collective.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/vec_product.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

bool is_assembled(Mat mat) {
  PetscBool assembled = PETSC_FALSE;
  petsc_check(PetscObjectBaseTypeCompareAny(object_of(mat), &assembled, MATSEQAIJ, MATMPIAIJ,
                                            MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  return assembled == PETSC_TRUE;
}

}  // namespace

MatSystem::MatSystem(Mat mat, std::shared_ptr<Operator> op, Vec like)
    : mat_(mat),
      operator_(std::move(op)),
      comm_(comm_of(mat)),
      processes_(size_of(comm_of(mat))),
      copies_(!operator_ && like && !is_assembled(mat)) {
  if (copies_) {
    petsc_check(VecDuplicate(like, x_.put()));
    petsc_check(VecDuplicate(like, y_.put()));
  } else {
    x_ = vector_without_array(mat);
    y_ = vector_without_array(mat);
  }
  PetscInt rows = 0, cols = 0;
  petsc_check(MatGetLocalSize(mat, &rows, &cols));
  rows_ = rows;
  if (operator_ && operator_->ordered())
    ordered_ = std::dynamic_pointer_cast<HostOperator>(operator_);
}

std::span<const std::int32_t> MatSystem::order() const {
  return ordered_ ? ordered_->ordered()->order() : std::span<const std::int32_t>();
}

void MatSystem::multiply(std::span<const double> x, std::span<double> y) {
  if (ordered_) return ordered_->multiply_in_order(x, y);
  if (copies_) {
    set_local_values(x_, x);
    petsc_check(MatMult(mat_, x_, y_));
    return copy_local_values(y_, y);
  }
  petsc_check(VecPlaceArray(x_, x.data()));
  petsc_check(VecPlaceArray(y_, y.data()));
  // MatMult of a Mat of type trireme multiplies by the exact matrix in every precision.
  if (inexact())
    trireme::multiply(*operator_, x_, y_, ProductOf::rounded_matrix);
  else
    petsc_check(MatMult(mat_, x_, y_));
  petsc_check(VecResetArray(x_));
  petsc_check(VecResetArray(y_));
}

bool MatSystem::inexact() const { return operator_ && operator_->inexact(); }

std::span<const float> MatSystem::row_defect() const {
  if (ordered_) return ordered_->row_defect_in_order();
  return operator_ ? operator_->row_defect() : std::span<const float>();
}

void MatSystem::multiply_exactly(std::span<const double> x, std::span<double> y) {
  if (ordered_)
    ordered_->multiply_exactly_in_order(x, y);
  else if (inexact())
    operator_->multiply_exactly(x, y);
  else
    multiply(x, y);
}

// The operator of a shell may be replaced between two products (replace_operator()).
std::shared_ptr<HostOperator> MatSystem::host_operator() const {
  if (ordered_) return ordered_;
  const std::shared_ptr<Operator> of_shell = shell_operator(mat_);
  return std::dynamic_pointer_cast<HostOperator>(of_shell ? of_shell : operator_);
}

void MatSystem::multi_multiply(MultiVector<const double> x, MultiVector<double> y) {
  if (const auto op = host_operator())
    op->multi_multiply_in_order(x, y);
  else
    HostSystem::multi_multiply(x, y);
}

void MatSystem::multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) {
  const auto op = host_operator();
  if (op && op->inexact())
    op->multi_multiply_exactly_in_order(x, y);
  else if (op)
    op->multi_multiply_in_order(x, y);  // its time is recorded
  else
    HostSystem::multi_multiply_exactly(x, y);
}

bool MatSystem::multiply_and_dot(MultiVector<const double> x, MultiVector<double> y,
                                 std::int64_t chunk_rows, double* dots) {
  const auto op = host_operator();
  return op && op->multiply_and_dot_in_order(x, y, chunk_rows, dots);
}

void MatSystem::sum(std::span<double> values) {
  if (processes_ == 1) return;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                comm_);
}

void MatSystem::start_sum(std::span<double> values) {
  if (processes_ > 1)
    MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                   MPI_SUM, comm_, &sum_);
}

void MatSystem::finish_sum() { MPI_Wait(&sum_, MPI_STATUS_IGNORE); }

Array<double> inverse_diagonal_of(PC pc, Mat mat) {
  VecHandle ones, inverse;
  petsc_check(MatCreateVecs(mat, inverse.put(), ones.put()));
  petsc_check(VecSet(ones, 1));
  petsc_check(PCApply(pc, ones, inverse));
  return local_values(inverse);
}

Array<double> diagonal_of(Mat mat) {
  VecHandle diagonal;
  petsc_check(MatCreateVecs(mat, nullptr, diagonal.put()));
  petsc_check(MatGetDiagonal(mat, diagonal));
  return local_values(diagonal);
}

Array<double> diagonal_blocks_of(Mat mat, const solvers::BlockRows& blocks) {
  PetscInt first_row = 0;
  petsc_check(MatGetOwnershipRange(mat, &first_row, nullptr));
  Array<double> entries(static_cast<std::size_t>(blocks.rows) * blocks.size, 0.0);
  const auto op = shell_operator(mat);  // not null: MatGetRow does not work for a shell
  for (std::size_t group = 0; group + 1 < blocks.starts.size(); ++group) {
    const std::int64_t first = blocks.starts[group], last = blocks.starts[group + 1];
    for (std::int64_t row = first; row < last; ++row) {
      const auto add = [&](std::int64_t column, double value) {
        if (column >= first && column < last) entries[row * blocks.size + column - first] += value;
      };
      if (op) {
        const CsrMatrix<double>& local = op->matrix().blocks.local;
        for (std::int64_t k = local.row_begin(row); k < local.row_begin(row + 1); ++k)
          add(local.col_idx[k], local.values[k]);
        continue;
      }
      const auto global = static_cast<PetscInt>(first_row + row);
      PetscInt count = 0;
      const PetscInt* columns = nullptr;
      const PetscScalar* values = nullptr;
      petsc_check(MatGetRow(mat, global, &count, &columns, &values), ExitCode::usage);
      for (PetscInt k = 0; k < count; ++k) add(columns[k] - first_row, values[k]);
      petsc_check(MatRestoreRow(mat, global, &count, &columns, &values));
    }
  }
  return entries;
}

}  // namespace trireme
