// SPDX-License-Identifier: BSD-3-Clause
// MatMult on the engine's own arrays; diagonals and blocks.
#include "krylov/mat_system.hpp"

#include <mpi.h>

#include "operators/mat_shell.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

MPI_Comm comm_of(Mat mat) { return PetscObjectComm(reinterpret_cast<PetscObject>(mat)); }

VecHandle vector_without_array(Mat mat) {
  PetscInt rows = 0, global_rows = 0;
  petsc_check(MatGetLocalSize(mat, &rows, nullptr));
  petsc_check(MatGetSize(mat, &global_rows, nullptr));
  VecHandle vec;
  if (size_of(comm_of(mat)) == 1)
    petsc_check(VecCreateSeqWithArray(comm_of(mat), 1, rows, nullptr, vec.put()));
  else
    petsc_check(VecCreateMPIWithArray(comm_of(mat), 1, rows, global_rows, nullptr, vec.put()));
  return vec;
}

Array<double> copy_of(Vec vec) {
  PetscInt size = 0;
  const PetscScalar* data = nullptr;
  petsc_check(VecGetLocalSize(vec, &size));
  petsc_check(VecGetArrayRead(vec, &data));
  Array<double> copy(data, data + size);
  petsc_check(VecRestoreArrayRead(vec, &data));
  return copy;
}

// Adds the entries (row, first_column + column, value) of one row to the blocks.
template <class Entry>
void add_row(Array<double>& blocks, std::int64_t row, std::int64_t size, std::int64_t count,
             const Entry& entry) {
  const std::int64_t first = row - row % size;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto [column, value] = entry(k);
    if (column >= first && column < first + size) blocks[row * size + column - first] += value;
  }
}

}  // namespace

MatSystem::MatSystem(Mat mat)
    : mat_(mat),
      operator_(shell_operator(mat)),
      comm_(comm_of(mat)),
      processes_(size_of(comm_of(mat))),
      x_(vector_without_array(mat)),
      y_(vector_without_array(mat)) {
  PetscInt rows = 0, cols = 0;
  petsc_check(MatGetLocalSize(mat, &rows, &cols));
  rows_ = rows;
}

void MatSystem::multiply(std::span<const double> x, std::span<double> y) {
  petsc_check(VecPlaceArray(x_, x.data()));
  petsc_check(VecPlaceArray(y_, y.data()));
  petsc_check(MatMult(mat_, x_, y_));
  petsc_check(VecResetArray(x_));
  petsc_check(VecResetArray(y_));
}

bool MatSystem::inexact() const { return operator_ && operator_->inexact(); }

void MatSystem::multiply_exactly(std::span<const double> x, std::span<double> y) {
  if (inexact())
    operator_->multiply_exactly(x, y);
  else
    multiply(x, y);
}

void MatSystem::sum(std::span<double> values) {
  if (processes_ == 1) return;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                comm_);
}

Array<double> inverse_diagonal_of(PC pc, Mat mat) {
  VecHandle ones, inverse;
  petsc_check(MatCreateVecs(mat, inverse.put(), ones.put()));
  petsc_check(VecSet(ones, 1));
  petsc_check(PCApply(pc, ones, inverse));
  return copy_of(inverse);
}

Array<double> diagonal_of(Mat mat) {
  VecHandle diagonal;
  petsc_check(MatCreateVecs(mat, nullptr, diagonal.put()));
  petsc_check(MatGetDiagonal(mat, diagonal));
  return copy_of(diagonal);
}

Array<double> diagonal_blocks_of(Mat mat, std::int32_t block_size) {
  PetscInt rows = 0, first = 0;
  petsc_check(MatGetLocalSize(mat, &rows, nullptr));
  petsc_check(MatGetOwnershipRange(mat, &first, nullptr));
  Array<double> blocks(static_cast<std::size_t>(rows) * block_size, 0.0);
  if (const auto op = shell_operator(mat)) {
    const CsrMatrix<double>& local = op->matrix().blocks.local;
    for (std::int64_t row = 0; row < local.rows; ++row) {
      const std::int32_t begin = local.row_ptr[row];
      add_row(blocks, row, block_size, local.row_ptr[row + 1] - begin, [&](std::int64_t k) {
        return std::pair<std::int64_t, double>(local.col_idx[begin + k], local.values[begin + k]);
      });
    }
    return blocks;
  }
  for (PetscInt row = 0; row < rows; ++row) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* values = nullptr;
    petsc_check(MatGetRow(mat, first + row, &count, &columns, &values), ExitCode::usage);
    add_row(blocks, row, block_size, count, [&](std::int64_t k) {
      return std::pair<std::int64_t, double>(columns[k] - first, values[k]);
    });
    petsc_check(MatRestoreRow(mat, first + row, &count, &columns, &values));
  }
  return blocks;
}

}  // namespace trireme
