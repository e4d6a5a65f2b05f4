// SPDX-License-Identifier: BSD-3-Clause
// The rows of a coarse matrix as distribute() takes them.
#pragma once

#include <cstdint>
#include <span>

#include "sparse/csr.hpp"

namespace trireme::multigrid {

// Joins the local block, whose column j is the global column first + j, and the ghost block, whose
// column j is the global column ghost_columns[j]. Columns ascend in all of them; the result has
// `cols` columns.
CsrMatrix<double> joined_rows(const CsrMatrix<double>& local, std::int64_t first,
                              const CsrMatrix<double>& ghost,
                              std::span<const std::int32_t> ghost_columns, std::int64_t cols);

}  // namespace trireme::multigrid
