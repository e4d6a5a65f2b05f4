// SPDX-License-Identifier: BSD-3-Clause
// One pass over the offsets of all blocks of rows.
#include "distributed/boundary_rows.hpp"

namespace trireme {
namespace {

// Calls work(row, end) for each row with entries, the last of which is before `end`.
template <class Work>
void for_each_row_with_entries(const CsrMatrix<double>& a, const Work& work) {
  for (const RowBlock<double>& block : a.blocks())
    for (std::int64_t row = 0; row < block.csr.rows; ++row)
      if (block.csr.row_ptr[row + 1] > block.csr.row_ptr[row])
        work(block.first_row + row, block.first_entry + block.csr.row_ptr[row + 1]);
}

}  // namespace

BoundaryRows boundary_rows(const CsrMatrix<double>& ghost) {
  BoundaryRows result;
  result.row_ptr.push_back(0);
  for_each_row_with_entries(ghost, [&](std::int64_t row, std::int64_t end) {
    result.rows.push_back(static_cast<std::int32_t>(row));
    result.row_ptr.push_back(static_cast<std::int32_t>(end));
  });
  return result;
}

bool is_boundary(const CsrMatrix<double>& ghost, std::int64_t most) {
  std::int64_t rows = 0;
  for_each_row_with_entries(ghost, [&](std::int64_t, std::int64_t) { ++rows; });
  return 4 * rows <= ghost.rows && ghost.nnz() <= most;
}

}  // namespace trireme
