// SPDX-License-Identifier: BSD-3-Clause
// Counts the patterns of sampled rows by their hashes.
#include "planning/row_patterns.hpp"

#include <algorithm>
#include <vector>

#include "kernels/sell/layout.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kSampledGroups = 32;
constexpr std::int64_t kRowsPerSampledGroup = 256;
// Where more than one row in this many has a pattern of its own, the rows that were not sampled
// have others.
constexpr std::int64_t kRowsPerPattern = 8;

std::uint64_t hash_of_row(const CsrView<double>& a, std::int64_t row) {
  const std::int32_t begin = a.row_ptr[row], length = a.row_ptr[row + 1] - begin;
  std::uint64_t sum = 0;
  for (std::int32_t j = 0; j < length; ++j)
    sum += sell::pattern_term(j, a.col_idx[begin + j] - static_cast<std::int32_t>(row));
  return sell::pattern_hash(sum, length);
}

}  // namespace

bool has_few_row_patterns(const CsrView<double>& matrix) {
  const std::int64_t apart = sell::longest_row(matrix.rows, matrix.nnz());
  std::vector<std::uint64_t> hashes;
  std::int32_t longest = 0;
  std::int64_t sampled = 0;
  for (std::int64_t group = 0; group < kSampledGroups; ++group) {
    const std::int64_t first = group * matrix.rows / kSampledGroups;
    const std::int64_t next = (group + 1) * matrix.rows / kSampledGroups;
    for (std::int64_t row = first; row < std::min(next, first + kRowsPerSampledGroup); ++row) {
      ++sampled;
      const std::int32_t length = matrix.row_ptr[row + 1] - matrix.row_ptr[row];
      if (length > apart) continue;
      longest = std::max(longest, length);
      hashes.push_back(hash_of_row(matrix, row));
    }
  }
  if (2 * std::ssize(hashes) <= sampled) return false;
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  const auto patterns = std::ssize(hashes);
  return patterns * kRowsPerPattern <= sampled &&
         sell::few_patterns(patterns + 1, sell::pattern_width(longest), matrix.nnz());
}

}  // namespace trireme
