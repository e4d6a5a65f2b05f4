// SPDX-License-Identifier: BSD-3-Clause
// Looks at the sign, and keeps the copy.
#include "petsc/mat/signed_entries.hpp"

#include <algorithm>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

// Whether all diagonal entries are negative. The first row of each rank answers for almost all
// matrices. Collective.
bool has_negative_diagonal(const DistributedMatrix& matrix) {
  const CsrMatrix<double>& local = matrix.blocks.local;
  double first = -1;
  if (local.rows > 0) {
    first = 0;
    for (std::int64_t k = local.row_begin(0); k < local.row_begin(1); ++k)
      if (local.col_idx[k] == 0) first += local.values[k];
  }
  if (matrix.global_rows() == 0 || any_rank(matrix.comm, !(first < 0))) return false;
  Array<double> diagonal;
  collectively(matrix.comm, [&] { diagonal.resize(matrix.local_rows()); });
  matrix.diagonal(diagonal);
  return !any_rank(matrix.comm, std::ranges::any_of(diagonal, [](double d) { return !(d < 0); }));
}

void negate(const Array<double>& from, Array<double>& into) {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < from.size(); ++k) into[k] = -from[k];
}

void negate(const DistributedMatrix& from, DistributedMatrix& into) {
  negate(from.blocks.local.values, into.blocks.local.values);
  negate(from.blocks.ghost.values, into.blocks.ghost.values);
}

std::shared_ptr<DistributedMatrix> negative_of(const DistributedMatrix& matrix) {
  auto copy = std::make_shared<DistributedMatrix>(matrix);
  copy->on_device.reset();
  copy->row_sizes = {};
  negate(matrix, *copy);
  return copy;
}

}  // namespace

MatEntries::Change SignedEntries::take(Mat mat) {
  using enum MatEntries::Change;
  const MatEntries::Change change = entries_.take(mat);
  if (change == none && matrix_) return none;
  const DistributedMatrix& now = *entries_.matrix();
  const bool negative = has_negative_diagonal(now);
  if (change == values && matrix_ && negative == negated_) {
    if (negated_) {
      negate(now, *matrix_);
      ++matrix_->values_version;
    }
    return values;
  }
  matrix_.reset();
  collectively(now.comm, [&] { matrix_ = negative ? negative_of(now) : entries_.matrix(); });
  negated_ = negative;
  return everything;
}

void SignedEntries::forget() {
  entries_.forget();
  matrix_.reset();
}

}  // namespace trireme
