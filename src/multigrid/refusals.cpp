// SPDX-License-Identifier: BSD-3-Clause
// Throws what no matrix of a hierarchy may be.
#include "multigrid/refusals.hpp"

#include "base/error.hpp"

namespace trireme::multigrid {

void check_options(const Options& options) {
  const auto within = [](const char* name, std::int64_t value, std::int64_t min, std::int64_t max) {
    if (value < min || value > max)
      fail(ExitCode::usage, "multigrid: {} is {}, and must be from {} to {}", name, value, min,
           max);
  };
  within("degree", options.degree, 1, 8);
  within("block_size", options.block_size, 1, 64);
  within("max_levels", options.max_levels, 1, 100);
  within("coarsest_rows", options.coarsest_rows, 1, 5000);
  within("replicated_rows", options.replicated_rows, 0, 1'000'000);
  within("aggressive_levels", options.aggressive_levels, 0, 100);
  if (!(options.threshold >= 0 && options.threshold < 1))
    fail(ExitCode::usage, "multigrid: threshold is {}, and must be at least 0 and below 1",
         options.threshold);
  if (!(options.fill >= 0))
    fail(ExitCode::usage, "multigrid: fill is {}, and must be at least 0", options.fill);
}

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

void refuse_row(std::int64_t row, double diagonal) {
  if (diagonal == 0)
    fail(ExitCode::input,
         "multigrid needs a diagonal without zeros; that of row {} (from 0) is zero or missing",
         row);
  fail(ExitCode::input, "multigrid needs finite values; row {} (from 0) has infinity or NaN", row);
}

void refuse_mode(std::int64_t mode) {
  fail(ExitCode::input, "vector {} of the near-nullspace (from 0) has infinity or NaN", mode);
}

void refuse_diagonal(int level, std::int64_t row, double diagonal) {
  if (level == 0)
    fail(ExitCode::input,
         "multigrid needs a diagonal of one sign, and that of row {} (from 0) is {:.6g}; use "
         "preconditioner jacobi (method minres, where the matrix is symmetric)",
         row, diagonal);
  fail(ExitCode::input,
       "level {} of the multigrid hierarchy has the diagonal entry {:.6g}, so that the matrix is "
       "not positive definite; use another preconditioner",
       level, diagonal);
}

void refuse_block(int level, std::int64_t first_row, std::int64_t size) {
  fail(ExitCode::input,
       "the diagonal block of the rows {} to {} (from 0) of level {} of the multigrid hierarchy "
       "is not positive definite; use the smoother chebyshev",
       first_row, first_row + size - 1, level);
}

void refuse_spectrum(int level) {
  fail(ExitCode::input,
       "the spectrum of level {} of the multigrid hierarchy cannot be estimated; use another "
       "preconditioner",
       level);
}

}  // namespace trireme::multigrid
