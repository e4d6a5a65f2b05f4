// SPDX-License-Identifier: BSD-3-Clause
// Counts the sectors of sampled groups of rows.
#include "planning/access_profile.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace trireme {
namespace {

constexpr std::int64_t kProfiledGroups = 32;
constexpr std::int64_t kRowsPerProfiledGroup = 256;
constexpr std::int64_t kLongestProfiledRow = 4096;
constexpr std::int32_t kPerSector = 4;

std::int64_t length(const CsrMatrix<double>& a, std::int64_t row) {
  return a.row_begin(row + 1) - a.row_begin(row);
}

struct Count {
  double sectors = 0, nonzeros = 0;
  double ratio() const { return nonzeros > 0 ? sectors / nonzeros : 0; }
};

Count consecutive(const CsrMatrix<double>& a, std::int64_t first) {
  const std::int64_t last = std::min(a.rows, first + kRowsPerProfiledGroup);
  std::vector<std::int32_t> sectors;
  for (std::int64_t row = first; row < last; ++row)
    if (length(a, row) <= kLongestProfiledRow)
      for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k)
        sectors.push_back(a.col_idx[k] / kPerSector);
  const auto nonzeros = static_cast<double>(sectors.size());
  std::ranges::sort(sectors);
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  return {static_cast<double>(sectors.size()), nonzeros};
}

// The rows of a group that an order has put together have consecutive numbers, so that they fill
// their sectors. Each column outside of it counts as a sector.
Count gathered(const CsrMatrix<double>& a, std::int64_t root) {
  std::vector<std::int32_t> rows{static_cast<std::int32_t>(root)};
  std::unordered_set<std::int32_t> inside(rows.begin(), rows.end());
  for (std::size_t next = 0; next < rows.size() && std::ssize(rows) < kRowsPerProfiledGroup;
       ++next) {
    const std::int32_t row = rows[next];
    if (length(a, row) > kLongestProfiledRow) continue;
    for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k)
      if (std::ssize(rows) < kRowsPerProfiledGroup && inside.insert(a.col_idx[k]).second)
        rows.push_back(a.col_idx[k]);
  }
  std::unordered_set<std::int32_t> outside;
  double nonzeros = 0;
  for (const std::int32_t row : rows) {
    if (length(a, row) > kLongestProfiledRow) continue;
    nonzeros += static_cast<double>(length(a, row));
    for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k)
      if (!inside.contains(a.col_idx[k])) outside.insert(a.col_idx[k]);
  }
  return {static_cast<double>(rows.size()) / kPerSector + static_cast<double>(outside.size()),
          nonzeros};
}

}  // namespace

AccessProfile access_profile(const CsrMatrix<double>& matrix) {
  if (matrix.rows == 0 || matrix.rows != matrix.cols) return {};
  double sums[4] = {};
#pragma omp parallel for schedule(dynamic) reduction(+ : sums)
  for (std::int64_t group = 0; group < kProfiledGroups; ++group) {
    const std::int64_t row = group * matrix.rows / kProfiledGroups;
    const Count given = consecutive(matrix, row);
    const Count clustered = gathered(matrix, row);
    sums[0] += given.sectors;
    sums[1] += given.nonzeros;
    sums[2] += clustered.sectors;
    sums[3] += clustered.nonzeros;
  }
  return {Count{sums[0], sums[1]}.ratio(), Count{sums[2], sums[3]}.ratio()};
}

}  // namespace trireme
