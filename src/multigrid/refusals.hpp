// SPDX-License-Identifier: BSD-3-Clause
// The messages that the set-up on the host and that on a GPU share.
#pragma once

#include <cstdint>

namespace trireme::multigrid {

// Throws Error{resource} for more than 2^31-1 nonzeros of one matrix.
void check_nonzeros(std::int64_t nnz);

struct ProductSizes {
  std::int64_t a_rows, a_cols, b_rows, b_cols;
};
// Throws Error{internal} where A B does not exist, or has no `diagonal` that is asked for.
void check_product(const ProductSizes& sizes, bool diagonal);

}  // namespace trireme::multigrid
