// SPDX-License-Identifier: BSD-3-Clause
// The checks run in parallel; only a matrix at fault is looked through from its beginning, for the
// first place that is wrong.
#include "api/caller_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace trireme::api {
namespace {

template <class Index>
[[noreturn]] void fail_at_offsets(std::span<const Index> row_ptr, std::int64_t nnz) {
  if (row_ptr[0] != 0) fail(ExitCode::input, "row_ptr[0] = {}; offsets begin with 0", row_ptr[0]);
  for (std::size_t i = 1; i < row_ptr.size(); ++i)
    if (row_ptr[i] < row_ptr[i - 1])
      fail(ExitCode::input, "row_ptr[{}] = {} is less than row_ptr[{}] = {}; offsets ascend", i,
           row_ptr[i], i - 1, row_ptr[i - 1]);
  fail(ExitCode::input, "row_ptr ends with {}, and there are {} values", row_ptr.back(), nnz);
}

template <class Index>
void copy_offsets(std::span<const Index> row_ptr, std::int64_t nnz, Array<std::int32_t>& into) {
  bool good = row_ptr[0] == 0 && std::cmp_equal(row_ptr.back(), nnz);
  const std::size_t rows = row_ptr.size() - 1;
  into.resize(row_ptr.size());
  into[0] = 0;
#pragma omp parallel for schedule(static) reduction(&& : good)
  for (std::size_t i = 0; i < rows; ++i) {
    good = good && row_ptr[i] <= row_ptr[i + 1];
    into[i + 1] = static_cast<std::int32_t>(row_ptr[i + 1]);
  }
  if (!good) fail_at_offsets(row_ptr, nnz);
}

template <class Index>
[[noreturn]] void fail_at_columns(std::span<const Index> col_idx, std::int64_t cols,
                                  const Array<std::int32_t>& row_ptr) {
  const auto at = std::ranges::find_if(
      col_idx, [cols](Index col) { return col < 0 || std::cmp_greater_equal(col, cols); });
  const auto entry = at - col_idx.begin();
  const auto row = std::ranges::upper_bound(row_ptr, entry) - row_ptr.begin() - 1;
  fail(ExitCode::input,
       "column {} in row {} (col_idx[{}]) is out of range; the matrix has {} columns", *at, row,
       entry, cols);
}

template <class Index>
void copy_columns(std::span<const Index> col_idx, std::int64_t cols,
                  const Array<std::int32_t>& row_ptr, Array<std::int32_t>& into) {
  bool good = true;
  into.resize(col_idx.size());
#pragma omp parallel for schedule(static) reduction(&& : good)
  for (std::size_t k = 0; k < into.size(); ++k) {
    good = good && col_idx[k] >= 0 && std::cmp_less(col_idx[k], cols);
    into[k] = static_cast<std::int32_t>(col_idx[k]);
  }
  if (!good) fail_at_columns(col_idx, cols, row_ptr);
}

bool all_finite(std::span<const double> values) {
  bool finite = true;
#pragma omp parallel for simd schedule(static) reduction(&& : finite)
  for (std::size_t i = 0; i < values.size(); ++i) finite = finite && std::isfinite(values[i]);
  return finite;
}

}  // namespace

void require_finite(std::span<const double> values, const char* name) {
  if (all_finite(values)) return;
  const auto at = std::ranges::find_if(values, [](double v) { return !std::isfinite(v); });
  fail(ExitCode::input, "{}[{}] = {}; numbers must be finite", name, at - values.begin(), *at);
}

void require_size(std::size_t size, std::int64_t wanted, const char* name) {
  if (!std::cmp_equal(size, wanted))
    fail(ExitCode::usage, "{} has {} numbers; {} are needed", name, size, wanted);
}

CsrMatrix<double> copied(const CsrArrays& matrix) {
  if (matrix.rows < 0 || matrix.cols < 0)
    fail(ExitCode::usage, "the matrix has the shape {} x {}", matrix.rows, matrix.cols);
  const auto nnz = static_cast<std::int64_t>(matrix.values.size());
  require_local_rows("the matrix", std::max(matrix.rows, matrix.cols));
  if (nnz > kMostNonzerosOfBlock)
    fail(ExitCode::resource, "the matrix has {} nonzeros; one process takes up to {}", nnz,
         kMostNonzerosOfBlock);
  CsrMatrix<double> copy;
  copy.rows = matrix.rows;
  copy.cols = matrix.cols;
  std::visit(
      [&](auto row_ptr) {
        require_size(row_ptr.size(), matrix.rows + 1, "row_ptr");
        copy_offsets(row_ptr, nnz, copy.row_ptr);
      },
      matrix.row_ptr);
  std::visit(
      [&](auto col_idx) {
        require_size(col_idx.size(), nnz, "col_idx");
        copy_columns(col_idx, matrix.cols, copy.row_ptr, copy.col_idx);
      },
      matrix.col_idx);
  require_finite(matrix.values, "values");
  copy.values.resize(matrix.values.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < copy.values.size(); ++k) copy.values[k] = matrix.values[k];
  return copy;
}

std::shared_ptr<DistributedMatrix> copied_square(const Ranks& ranks, const CsrArrays& matrix) {
  RowSlab slab;
  ranks.checked([&] { slab.local = copied(matrix); });
  std::vector<std::int64_t> row_starts(static_cast<std::size_t>(size_of(ranks.comm())) + 1, 0);
  MPI_Allgather(&matrix.rows, 1, MPI_INT64_T, row_starts.data() + 1, 1, MPI_INT64_T, ranks.comm());
  std::partial_sum(row_starts.begin(), row_starts.end(), row_starts.begin());
  ranks.checked([&] {
    if (row_starts.back() != matrix.cols)
      fail(ExitCode::input, "the matrix is {} x {}; a linear system needs as many columns as rows",
           row_starts.back(), matrix.cols);
  });
  slab.global_rows = slab.global_cols = matrix.cols;
  slab.global_nnz = sum_over_ranks(ranks.comm(), slab.local.nnz());
  slab.first_row = row_starts[rank_of(ranks.comm())];
  return distribute(ranks.comm(), std::move(slab), std::move(row_starts));
}

}  // namespace trireme::api
