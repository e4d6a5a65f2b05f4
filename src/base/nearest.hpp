// SPDX-License-Identifier: BSD-3-Clause
// The known name that a misspelt one probably means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace trireme {

// Levenshtein: insertions, deletions and replacements that turn one into the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// The first of the names with the least distance; empty where there are no names.
inline std::string_view nearest_name(std::string_view word,
                                     std::span<const std::string_view> names) {
  const auto nearer = [&](std::string_view a, std::string_view b) {
    return edit_distance(word, a) < edit_distance(word, b);
  };
  const auto best = std::min_element(names.begin(), names.end(), nearer);
  return best == names.end() ? std::string_view{} : *best;
}

}  // namespace trireme
