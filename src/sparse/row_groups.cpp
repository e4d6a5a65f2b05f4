// SPDX-License-Identifier: BSD-3-Clause
// Compares each row with the row before, in one pass.
#include "sparse/row_groups.hpp"

#include <algorithm>

namespace trireme {
namespace {

bool same_columns(const CsrView<double>& a, std::int64_t row, std::int64_t other) {
  if (a.col_idx.empty()) return true;
  const auto columns = a.col_idx;
  return std::equal(columns.begin() + a.row_ptr[row], columns.begin() + a.row_ptr[row + 1],
                    columns.begin() + a.row_ptr[other], columns.begin() + a.row_ptr[other + 1]);
}

}  // namespace

std::vector<std::int32_t> row_groups(const CsrView<double>& local, const CsrView<double>& ghost,
                                     std::int32_t max_rows) {
  std::vector<std::int32_t> starts{0};
  for (std::int64_t row = 1; row < local.rows; ++row) {
    const bool joins = row - starts.back() < max_rows && same_columns(local, row - 1, row) &&
                       same_columns(ghost, row - 1, row);
    if (!joins) starts.push_back(static_cast<std::int32_t>(row));
  }
  if (local.rows > 0) starts.push_back(static_cast<std::int32_t>(local.rows));
  return starts;
}

}  // namespace trireme
