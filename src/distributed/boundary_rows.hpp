// SPDX-License-Identifier: BSD-3-Clause
// The rows of a ghost block that have entries, for BoundaryProduct.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "sparse/csr.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {

// The entries of rows[k] are row_ptr[k] .. row_ptr[k+1]-1 of the whole ghost block.
struct BoundaryRows {
  Array<std::int32_t> rows;     // ascending
  Array<std::int32_t> row_ptr;  // begins with 0
};

// Needs is_boundary(ghost).
BoundaryRows boundary_rows(const CsrMatrix<double>& ghost);

// Whether at most a quarter of the rows have entries, at most `most` of all rows together, so that
// BoundaryProduct suits the block.
bool is_boundary(const CsrMatrix<double>& ghost, std::int64_t most = kNonzerosOfBlock);

}  // namespace trireme
