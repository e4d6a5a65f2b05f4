// SPDX-License-Identifier: BSD-3-Clause
// What solve --help KEY prints.
#pragma once

#include <string>

namespace trireme::solve {

// The key, or the keys of a section, in words: meaning, allowed values, default and an example.
// Throws Error{usage} with the key that was probably meant.
std::string explain_key(const std::string& path);

}  // namespace trireme::solve
