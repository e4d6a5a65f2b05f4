// SPDX-License-Identifier: BSD-3-Clause
// The known name that a misspelt name probably means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme {

// The number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
// (optimal string alignment), by the usual table, of which three rows are kept.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({substituted, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

// The first of the names at the minimum distance. Empty where the distance exceeds a third of the
// word, so that a slip of the hand does not explain it.
template <class Names>
std::optional<std::string> nearest(std::string_view word, const Names& names) {
  constexpr std::size_t max_name = 64;
  if (word.size() > 2 * max_name) return std::nullopt;
  std::size_t limit = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> best;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance < limit) {
      limit = distance;
      best = std::string(name);
    }
  }
  return best;
}

}  // namespace trireme
