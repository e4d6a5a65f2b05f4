// SPDX-License-Identifier: BSD-3-Clause
// What the user may have meant: the known word nearest to a misspelt one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trireme {

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of the words at the least distance, if that is near enough to be a slip of the hand.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words);

}  // namespace trireme
