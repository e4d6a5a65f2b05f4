// SPDX-License-Identifier: BSD-3-Clause
// Shares, copies or converts the entries.
#include "petsc/mat/mat_entries.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "parallel/collective.hpp"
#include "petsc/mat/aij_blocks.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/mat/mat_trireme.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

std::string mat_type_name(Mat mat) {
  MatType type = nullptr;
  petsc_check(MatGetType(mat, &type));
  return type ? type : "none";
}

void require_split_alike(Mat mat) {
  if (!split_alike(mat))
    fail(ExitCode::usage,
         "the preconditioner needs a square matrix whose rows and columns are split over the ranks "
         "in the same way");
}

// The matrix of a shell or of a Mat of type trireme; null for any other Mat. Collective.
std::shared_ptr<DistributedMatrix> shared_matrix_of(Mat mat) {
  if (const auto op = shell_operator(mat)) return op->shared_matrix();
  return trireme_matrix(mat);
}

bool patterns_agree(const CsrMatrix<double>& a, const CsrMatrix<double>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col_idx == b.col_idx;
}

}  // namespace

void MatEntries::forget() {
  matrix_.reset();
  state_ = {};
  converted_ = false;
}

MatEntries::Change MatEntries::take(Mat mat) {
  if (const auto shared = shared_matrix_of(mat)) return take_shared(shared);
  return is_aij(mat) ? take_aij(mat) : take_converted(mat);
}

MatEntries::Change MatEntries::take_shared(const std::shared_ptr<DistributedMatrix>& matrix) {
  state_ = {};
  converted_ = false;
  const bool same = std::exchange(matrix_, matrix) == matrix;
  const bool same_values = std::exchange(version_, matrix->values_version) == version_;
  return !same ? Change::everything : !same_values ? Change::values : Change::none;
}

MatEntries::Change MatEntries::take_aij(Mat aij) {
  require_split_alike(aij);
  const MPI_Comm comm = comm_of(aij);
  const AijBlocks blocks = blocks_of(aij);
  const AijState now(aij, blocks);
  const bool same_pattern = !any_rank(comm, !now.same_pattern(state_));
  const bool same_values = !any_rank(comm, now != state_);
  if (same_pattern && same_values) return Change::none;
  if (same_pattern) {
    collectively(comm, [&] { copy_values(blocks, matrix_->blocks); });
    ++matrix_->values_version;
  } else {
    forget();
    matrix_ = distributed_matrix_of(aij);
  }
  state_ = now;
  converted_ = false;
  return same_pattern ? Change::values : Change::everything;
}

MatEntries::Change MatEntries::take_converted(Mat mat) {
  state_ = {};
  const bool of_own = std::exchange(converted_, true);  // else another Mat may share the matrix
  MatHandle aij;
  if (MatConvert(mat, MATAIJ, MAT_INITIAL_MATRIX, aij.put()) != kPetscSuccess)
    fail(
        ExitCode::usage,
        "the preconditioner needs the entries of the matrix, and a Mat of type {} gives none; give "
        "the KSP an AIJ matrix as its Pmat",
        mat_type_name(mat));
  require_split_alike(aij);
  std::shared_ptr<DistributedMatrix> now = distributed_matrix_of(aij);
  now->comm = comm_of(mat);
  const bool same_here = of_own && matrix_ &&
                         patterns_agree(now->blocks.local, matrix_->blocks.local) &&
                         patterns_agree(now->blocks.ghost, matrix_->blocks.ghost) &&
                         now->blocks.ghost_columns == matrix_->blocks.ghost_columns;
  if (any_rank(comm_of(mat), !same_here)) {
    matrix_ = std::move(now);
    return Change::everything;
  }
  // Some conversions count as changes of the Mat themselves.
  if (!any_rank(comm_of(mat), now->blocks.local.values != matrix_->blocks.local.values ||
                                  now->blocks.ghost.values != matrix_->blocks.ghost.values))
    return Change::none;
  // Kernels may refer to the arrays, which therefore stay where they are.
  std::ranges::copy(now->blocks.local.values, matrix_->blocks.local.values.begin());
  std::ranges::copy(now->blocks.ghost.values, matrix_->blocks.ghost.values.begin());
  ++matrix_->values_version;
  return Change::values;
}

}  // namespace trireme
