// SPDX-License-Identifier: BSD-3-Clause
// Rules for several keys: which must be given, and which contradict each other.
#pragma once

#include <map>
#include <string>

#include "config/case.hpp"

namespace trireme {

// The place of each key that was given: "solver.rtol" -> "case.yaml:7:3".
using Places = std::map<std::string, std::string>;

// Throws Error{usage} with the place of the key at fault.
void check_whole(const Case& c, const Places& places);

// Gives keys that were not given the defaults that depend on others.
void take_dependent_defaults(Case& c, const Places& places);

}  // namespace trireme
