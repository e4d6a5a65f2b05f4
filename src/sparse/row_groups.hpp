// SPDX-License-Identifier: BSD-3-Clause
// Rows that belong together by their pattern: the unknowns of one node in a finite-element matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme {

// Consecutive rows with the same columns, in the same order, in both blocks of a rank's rows make a
// group of at most `most` rows. Returns the first row of each group and the number of rows:
// 0 .. rows. O(nnz).
std::vector<std::int32_t> row_groups(const CsrView<double>& local, const CsrView<double>& ghost,
                                     std::int32_t most);

}  // namespace trireme
