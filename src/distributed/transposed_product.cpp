// SPDX-License-Identifier: BSD-3-Clause
// The transposed product.
#include "distributed/transposed_product.hpp"

#include <algorithm>
#include <utility>

namespace trireme {
namespace {

// y += A^T x by rows of A, in storage order. The values are those of type Stored.
template <class Stored>
void add_transposed(const CsrView<double>& a, std::span<const double> x, std::span<double> y) {
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      y[a.col_idx[k]] += static_cast<double>(static_cast<Stored>(a.values[k])) * x[row];
}

void add_transposed(const CsrMatrix<double>& a, Precision precision, std::span<const double> x,
                    std::span<double> y) {
  for (const RowBlock<double>& block : a.blocks()) {
    const std::span<const double> rows = x.subspan(block.first_row, block.csr.rows);
    if (precision == Precision::mixed)
      add_transposed<float>(block.csr, rows, y);
    else
      add_transposed<double>(block.csr, rows, y);
  }
}

}  // namespace

TransposedProduct::TransposedProduct(std::shared_ptr<const DistributedMatrix> matrix,
                                     Precision precision)
    : matrix_(std::move(matrix)),
      precision_(precision),
      packed_(matrix_->halo.send_rows.size()),
      ghosts_(matrix_->halo.ghosts),
      exchange_(matrix_->comm, matrix_->halo, packed_, ghosts_) {}

void TransposedProduct::multiply(std::span<const double> x, std::span<double> y) {
  std::fill(ghosts_.begin(), ghosts_.end(), 0.0);
  add_transposed(matrix_->blocks.ghost, precision_, x, ghosts_);
  exchange_.begin_reverse();
  std::fill(y.begin(), y.end(), 0.0);
  add_transposed(matrix_->blocks.local, precision_, x, y);
  exchange_.end_reverse();
  const Array<std::int32_t>& rows = matrix_->halo.send_rows;
  for (std::size_t k = 0; k < rows.size(); ++k) y[rows[k]] += packed_[k];
}

}  // namespace trireme
