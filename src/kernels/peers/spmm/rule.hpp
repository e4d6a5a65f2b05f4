// SPDX-License-Identifier: BSD-3-Clause
// The article's rule, which picks one of the seven products.
//
// Its summary says how the number of vectors N decides who adds up:
//
//   N > 32       the lanes of a warp get all nonzeros of a row by shuffles ("row cache")
//   32 > N > 4   a thread adds up in order
//   4 > N        the lanes of a warp add up in a tree
//
// It leaves N = 4 and N = 32 open, and its sentence on the choice between rows and nonzeros breaks
// off. Here 32 vectors go with the first line, because they fill the lanes of a warp exactly, and 4
// with the last one. Nonzeros are shared where the row lengths are uneven: where their standard
// deviation is larger than their mean. Among the two products of the second line that share
// nonzeros, the rule takes nnz_tile, which searches each row once for all vectors.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/peers/spmm/split.hpp"

namespace trireme::spmm {

// True where the standard deviation of the row lengths is larger than their mean.
bool uneven_rows(std::span<const std::int32_t> row_ptr);

// Never SpmmSplit::by_rule.
SpmmSplit choose_split(std::int64_t vectors, bool uneven);

}  // namespace trireme::spmm
