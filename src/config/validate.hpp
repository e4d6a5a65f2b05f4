// SPDX-License-Identifier: BSD-3-Clause
// What no single key can tell: keys that are missing, or contradict each other.
#pragma once

#include <map>
#include <string>

#include "config/case.hpp"

namespace trireme {

// Where each key that was given was given: "solver.rtol" -> "case.yaml:7:3".
using Places = std::map<std::string, std::string>;

// Throws Error{usage} with the place of the key at fault.
void check_whole(const Case& c, const Places& places);

}  // namespace trireme
