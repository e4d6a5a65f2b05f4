// SPDX-License-Identifier: BSD-3-Clause
// The values of keys that have a name, for those who offer them.
#pragma once

#include <string>
#include <vector>

#include "config/keys.hpp"

namespace trireme {

// The words that the key takes: those of an enumeration, the names of kernels, methods and
// preconditioners, true and false. Other values may be valid too. Empty where it has no such words.
std::vector<std::string> known_values(const Key& key);

}  // namespace trireme
