// SPDX-License-Identifier: BSD-3-Clause
// AIJ over the arrays of the two blocks.
#include "petsc/mat/assembled_mat.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "petsc/mat/block_size.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

struct Needs {
  bool sorting = false;
  bool diagonal = false;
};

Needs needs_of(const CsrMatrix<double>& a, bool with_diagonal) {
  bool unsorted = false, missing = false;
#pragma omp parallel for schedule(static) reduction(|| : unsorted, missing)
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const auto begin = a.col_idx.begin() + a.row_ptr[row];
    const auto end = a.col_idx.begin() + a.row_ptr[row + 1];
    unsorted = unsorted || !std::is_sorted(begin, end);
    missing = missing || (with_diagonal && std::find(begin, end, row) == end);
  }
  return {unsorted, missing};
}

// The array itself where its integers are PETSc's, else null. PETSc only reads it.
template <class Index>
PetscInt* shared(const Array<Index>& array) {
  if constexpr (std::is_same_v<PetscInt, Index>)
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    return const_cast<PetscInt*>(array.data());
  else
    return nullptr;
}

constexpr const char* kTimedMult = "TriremeTimedMult";

PetscErrorCode timed_mult(Mat mat, Vec x, Vec y) {
  return petsc_guard(comm_of(mat), [&] {
    const Stopwatch watch;
    PetscContainer container = nullptr;
    petsc_check(PetscObjectQuery(reinterpret_cast<PetscObject>(mat), kTimedMult,
                                 reinterpret_cast<PetscObject*>(&container)));
    void* pointer = nullptr;
    petsc_check(PetscContainerGetPointer(container, &pointer));
    auto& timed = *static_cast<AssembledMat::TimedMult*>(pointer);
    if (timed.events) timed.events->begin(petsc_stream());
    petsc_check(timed.original(mat, x, y));
    if (timed.events)
      timed.events->end(petsc_stream());
    else
      timed.times.record(watch.seconds());
  });
}

}  // namespace

AssembledMat::Block AssembledMat::share_or_copy(const CsrMatrix<double>& block,
                                                bool with_diagonal) {
  block.require_one_block();
  const Needs needs = needs_of(block, with_diagonal);
  Block result;
  if (!needs.sorting && !needs.diagonal) {
    result.i = shared(block.row_ptr);
    result.j = shared(block.col_idx);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): PETSc only reads this array.
    result.a = const_cast<PetscScalar*>(block.values.data());
    if (result.i) return result;
  }
  std::vector<std::pair<PetscInt, PetscScalar>> row_entries;
  result.row_ptr.reserve(block.rows + 1);
  result.columns.reserve(block.nnz());
  result.values.reserve(block.nnz());
  result.row_ptr.push_back(0);
  for (std::int64_t row = 0; row < block.rows; ++row) {
    row_entries.clear();
    bool has_diagonal = false;
    for (std::int32_t k = block.row_ptr[row]; k < block.row_ptr[row + 1]; ++k) {
      row_entries.emplace_back(block.col_idx[k], block.values[k]);
      has_diagonal = has_diagonal || block.col_idx[k] == row;
    }
    if (with_diagonal && !has_diagonal) row_entries.emplace_back(static_cast<PetscInt>(row), 0.0);
    std::stable_sort(row_entries.begin(), row_entries.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    for (const auto& [column, value] : row_entries) {
      result.columns.push_back(column);
      result.values.push_back(value);
    }
    result.row_ptr.push_back(static_cast<PetscInt>(result.columns.size()));
  }
  result.i = result.row_ptr.data();
  result.j = result.columns.data();
  result.a = result.values.data();
  return result;
}

void AssembledMat::refresh(Block& copy, const CsrMatrix<double>& block, bool with_diagonal) {
  if (copy.values.empty()) return;  // PETSc uses the matrix's own array
  std::ranges::copy(share_or_copy(block, with_diagonal).values, copy.values.begin());
}

namespace {

// Marks the values of a sequential AIJ as changed. On a GPU, PETSc copies them there at their next
// use.
void note_new_values(Mat aij) {
  PetscScalar* values = nullptr;
  petsc_check(MatSeqAIJGetArray(aij, &values));
  petsc_check(MatSeqAIJRestoreArray(aij, &values));
}

}  // namespace

void AssembledMat::refresh_values() {
  const SplitRows& blocks = matrix_->blocks;
  collectively(matrix_->comm, [&] {
    refresh(local_, blocks.local, use_ == AijUse::preconditioner);
    refresh(ghost_, blocks.ghost, false);
  });
  if (size_of(matrix_->comm) == 1) {
    note_new_values(mat_);
    return;
  }
  Mat local = nullptr, ghost = nullptr;
  const PetscInt* ghost_columns = nullptr;
  petsc_check(MatMPIAIJGetSeqAIJ(mat_, &local, &ghost, &ghost_columns));
  note_new_values(local);
  note_new_values(ghost);
  note_change(static_cast<Mat>(mat_));
}

AssembledMat::AssembledMat(std::shared_ptr<const DistributedMatrix> matrix, AijUse use)
    : matrix_(std::move(matrix)), use_(use) {
  const SplitRows& blocks = matrix_->blocks;
  const auto rows = static_cast<PetscInt>(blocks.local.rows);
  const auto global_rows = static_cast<PetscInt>(matrix_->global_rows());
  const bool alone = size_of(matrix_->comm) == 1;
  collectively(matrix_->comm, [&] {
    local_ = share_or_copy(blocks.local, use == AijUse::preconditioner);
    ghost_ = share_or_copy(blocks.ghost, false);
    if (alone) return;
    Array<PetscInt> global(blocks.ghost.nnz());
    for (std::size_t k = 0; k < global.size(); ++k)
      global[k] = static_cast<PetscInt>(blocks.ghost_columns[ghost_.j[k]]);
    ghost_.columns = std::move(global);
    ghost_.j = ghost_.columns.data();
  });
  if (alone)
    petsc_check(MatCreateSeqAIJWithArrays(matrix_->comm, rows, rows, local_.i, local_.j, local_.a,
                                          mat_.put()));
  else
    petsc_check(MatCreateMPIAIJWithSplitArrays(matrix_->comm, rows, rows, global_rows, global_rows,
                                               local_.i, local_.j, local_.a, ghost_.i, ghost_.j,
                                               ghost_.a, mat_.put()));
  set_block_size_from_options(mat_, *matrix_);
}

void AssembledMat::move_to_gpu() {
  Mat same = mat_;
  petsc_check(MatConvert(mat_, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &same));
  on_gpu_ = true;
  VecHandle x, y;
  petsc_check(MatCreateVecs(mat_, x.put(), y.put()));
  petsc_check(VecSet(x, 0));
  petsc_check(MatMult(mat_, x, y));
  PetscReal norm = 0;
  petsc_check(VecNorm(y, NORM_2, &norm));  // waits for it
}

void AssembledMat::time_products() {
  PetscOperation original = nullptr;
  petsc_check(MatGetOperation(mat_, MATOP_MULT, &original));
  timed_ = std::make_unique<TimedMult>();
  timed_->original = reinterpret_cast<decltype(TimedMult::original)>(original);
  if (on_gpu_) timed_->events.emplace();
  PetscContainer container = nullptr;
  petsc_check(PetscContainerCreate(matrix_->comm, &container));
  petsc_check(PetscContainerSetPointer(container, timed_.get()));
  petsc_check(PetscObjectCompose(reinterpret_cast<PetscObject>(static_cast<Mat>(mat_)), kTimedMult,
                                 reinterpret_cast<PetscObject>(container)));
  petsc_check(PetscContainerDestroy(&container));
  petsc_check(MatSetOperation(mat_, MATOP_MULT, petsc_operation(timed_mult)));
}

ProductTimes& AssembledMat::times() {
  if (timed_->events) timed_->events->read_into(timed_->times);
  return timed_->times;
}

}  // namespace trireme
