// SPDX-License-Identifier: BSD-3-Clause
// Copies PETSc's CSR arrays into ours.
#include "petsc/mat/aij_blocks.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "parallel/collective.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kMaxIndex = std::numeric_limits<std::int32_t>::max();

// Read access to the CSR arrays of a sequential AIJ matrix.
class CsrArrays {
 public:
  explicit CsrArrays(Mat mat) : mat_(mat) {
    PetscBool done = PETSC_FALSE;
    petsc_check(MatGetRowIJ(mat, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &row_ptr_, &columns_, &done));
    if (!done) fail(ExitCode::internal, "PETSc gives no row pointers of an AIJ matrix");
    petsc_check(MatSeqAIJGetArrayRead(mat, &values_));
  }
  ~CsrArrays() {
    PetscBool done = PETSC_FALSE;
    static_cast<void>(MatSeqAIJRestoreArrayRead(mat_, &values_));
    static_cast<void>(
        MatRestoreRowIJ(mat_, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &row_ptr_, &columns_, &done));
  }
  CsrArrays(const CsrArrays&) = delete;
  CsrArrays& operator=(const CsrArrays&) = delete;

  std::int64_t rows() const { return rows_; }
  std::int64_t nnz() const { return rows_ == 0 ? 0 : row_ptr_[rows_]; }
  const PetscInt* row_ptr() const { return row_ptr_; }
  const PetscInt* columns() const { return columns_; }
  const PetscScalar* values() const { return values_; }

 private:
  Mat mat_;
  PetscInt rows_ = 0;
  const PetscInt* row_ptr_ = nullptr;
  const PetscInt* columns_ = nullptr;
  const PetscScalar* values_ = nullptr;
};

template <class To, class From>
void copy_to(Array<To>& to, const From* from, std::int64_t count) {
  to.resize(count);
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < count; ++k) to[k] = static_cast<To>(from[k]);
}

CsrMatrix<double> copy_of(Mat block) {
  const CsrArrays from(block);
  PetscInt cols = 0;
  petsc_check(MatGetLocalSize(block, nullptr, &cols));
  if (from.nnz() > kNonzerosOfBlock || cols > kMaxIndex)
    fail(ExitCode::resource,
         "a rank's part of the matrix has {} nonzeros and {} columns, and Trireme takes at most {} "
         "and {} from PETSc; use more ranks",
         from.nnz(), cols, kNonzerosOfBlock, kMaxIndex);
  CsrMatrix<double> to;
  to.rows = from.rows();
  to.cols = cols;
  if (to.rows > 0) copy_to(to.row_ptr, from.row_ptr(), to.rows + 1);
  copy_to(to.col_idx, from.columns(), from.nnz());
  copy_to(to.values, from.values(), from.nnz());
  return to;
}

void copy_values(Mat from, CsrMatrix<double>& to) {
  const CsrArrays block(from);
  if (block.nnz() != to.nnz())
    fail(ExitCode::internal, "an AIJ matrix has {} nonzeros in place of {}, with the same pattern",
         block.nnz(), to.nnz());
  copy_to(to.values, block.values(), block.nnz());
}

bool same_places(Mat a, Mat b) {
  const CsrArrays left(a), right(b);
  return left.rows() == right.rows() && left.nnz() == right.nnz() &&
         (left.rows() == 0 ||
          std::equal(left.row_ptr(), left.row_ptr() + left.rows() + 1, right.row_ptr())) &&
         std::equal(left.columns(), left.columns() + left.nnz(), right.columns());
}

}  // namespace

AijBlocks blocks_of(Mat aij) {
  PetscBool parallel = PETSC_FALSE;
  petsc_check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(aij), MATMPIAIJ, &parallel));
  AijBlocks blocks;
  if (!parallel)
    blocks.diagonal = aij;
  else
    petsc_check(
        MatMPIAIJGetSeqAIJ(aij, &blocks.diagonal, &blocks.off_diagonal, &blocks.ghost_columns));
  return blocks;
}

bool is_aij(Mat mat) {
  PetscBool sequential = PETSC_FALSE, parallel = PETSC_FALSE;
  petsc_check(PetscObjectBaseTypeCompare(object_of(mat), MATSEQAIJ, &sequential));
  petsc_check(PetscObjectBaseTypeCompare(object_of(mat), MATMPIAIJ, &parallel));
  return sequential || parallel;
}

bool split_alike(Mat aij) {
  const PetscInt* rows = nullptr;
  const PetscInt* columns = nullptr;
  petsc_check(MatGetOwnershipRanges(aij, &rows));
  petsc_check(MatGetOwnershipRangesColumn(aij, &columns));
  return std::equal(rows, rows + size_of(comm_of(aij)) + 1, columns);
}

bool same_places(const AijBlocks& a, const AijBlocks& b) {
  if (!same_places(a.diagonal, b.diagonal)) return false;
  if (!a.off_diagonal) return true;
  if (!same_places(a.off_diagonal, b.off_diagonal)) return false;
  PetscInt ghosts = 0;
  petsc_check(MatGetLocalSize(a.off_diagonal, nullptr, &ghosts));
  return std::equal(a.ghost_columns, a.ghost_columns + ghosts, b.ghost_columns);
}

std::shared_ptr<DistributedMatrix> distributed_matrix_of(Mat aij) {
  const MPI_Comm comm = comm_of(aij);
  auto matrix = std::make_shared<DistributedMatrix>();
  SplitRows& blocks = matrix->blocks;
  matrix->comm = comm;
  collectively(comm, [&] {
    const AijBlocks from = blocks_of(aij);
    const PetscInt* rows = nullptr;
    petsc_check(MatGetOwnershipRanges(aij, &rows));
    matrix->row_starts.assign(rows, rows + size_of(comm) + 1);
    require_local_rows("the matrix", rows[rank_of(comm) + 1] - rows[rank_of(comm)]);
    blocks.local = copy_of(from.diagonal);
    if (from.off_diagonal) blocks.ghost = copy_of(from.off_diagonal);
    blocks.ghost.rows = blocks.local.rows;
    if (blocks.ghost.nnz() == 0) blocks.ghost.row_ptr.assign(blocks.local.rows + 1, 0);
    if (from.off_diagonal) copy_to(blocks.ghost_columns, from.ghost_columns, blocks.ghost.cols);
  });
  matrix->global_nnz = sum_over_ranks(comm, blocks.nnz());
  matrix->halo =
      plan_halo(comm, matrix->row_starts, std::span<const std::int64_t>(blocks.ghost_columns));
  return matrix;
}

void copy_values(const AijBlocks& from, SplitRows& to) {
  copy_values(from.diagonal, to.local);
  if (from.off_diagonal) copy_values(from.off_diagonal, to.ghost);
}

}  // namespace trireme
