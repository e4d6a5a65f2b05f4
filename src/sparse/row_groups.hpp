// SPDX-License-Identifier: BSD-3-Clause
// Groups of rows with the same columns, such as the unknowns of one node of a finite-element
// matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme {

// A group has at most max_rows consecutive rows, which have the same columns in the same order in
// both blocks of a rank's rows (`local` and `ghost`). Returns the first row of each group and then
// the number of rows. Takes O(nnz) time.
std::vector<std::int32_t> row_groups(const CsrView<double>& local, const CsrView<double>& ghost,
                                     std::int32_t max_rows);

}  // namespace trireme
