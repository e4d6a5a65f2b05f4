// SPDX-License-Identifier: BSD-3-Clause
// Reads right-hand sides from plain numbers, as numpy.savetxt writes them.
#pragma once

#include <filesystem>

#include "io/whole_system.hpp"

namespace trireme {

// Whether the first line of the file, plain or gzipped, that is no comment and not blank holds
// numbers and nothing else. Throws nothing.
bool is_text_of_numbers(const std::filesystem::path& path);

// Reads one row per line, with the same count of numbers in each: one number per right-hand side.
// Blanks or commas separate them. Blank lines and comments, which begin with # or %, are skipped.
// Throws Error{input} with the line.
WholeSystem read_text_vectors(const std::filesystem::path& path);

}  // namespace trireme
