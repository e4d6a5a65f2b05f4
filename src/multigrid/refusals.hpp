// SPDX-License-Identifier: BSD-3-Clause
// The messages that the set-up on the host and that on a GPU share.
#pragma once

#include <cstdint>

#include "multigrid/options.hpp"

namespace trireme::multigrid {

// Throws Error{usage} for an option out of its range.
void check_options(const Options& options);

// Throws Error{resource} for more than 2^31-1 nonzeros of one matrix.
void check_nonzeros(std::int64_t nnz);

struct ProductSizes {
  std::int64_t a_rows, a_cols, b_rows, b_cols;
};
// Throws Error{internal} where A B does not exist, or has no `diagonal` that is asked for.
void check_product(const ProductSizes& sizes, bool diagonal);

// Throws Error{input} for a row, by its number in the whole matrix, that has this diagonal entry,
// or values that are not finite.
[[noreturn]] void refuse_row(std::int64_t row, double diagonal);
// Throws Error{input} for a vector of the near-nullspace that is not finite.
[[noreturn]] void refuse_mode(std::int64_t mode);
// Throw Error{input} for what the smoother of a level does not take. Rows are those of the level.
[[noreturn]] void refuse_diagonal(int level, std::int64_t row, double diagonal);
[[noreturn]] void refuse_block(int level, std::int64_t first_row, std::int64_t size);
[[noreturn]] void refuse_spectrum(int level);

}  // namespace trireme::multigrid
