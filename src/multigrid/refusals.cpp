// SPDX-License-Identifier: BSD-3-Clause
// Throws what no matrix of a hierarchy may be.
#include "multigrid/refusals.hpp"

#include "base/error.hpp"

namespace trireme::multigrid {

void check_nonzeros(std::int64_t nnz) {
  if (nnz > INT32_MAX)
    fail(ExitCode::resource,
         "a matrix of multigrid would have {} nonzeros on one rank, more than 2^31-1; use more "
         "ranks",
         nnz);
}

void check_product(const ProductSizes& sizes, bool diagonal) {
  if (sizes.a_cols != sizes.b_rows)
    fail(ExitCode::internal, "a product of a matrix of {} columns and one of {} rows", sizes.a_cols,
         sizes.b_rows);
  if (diagonal && sizes.a_rows > sizes.b_cols)
    fail(ExitCode::internal, "the diagonal of a product of {} x {}", sizes.a_rows, sizes.b_cols);
}

}  // namespace trireme::multigrid
