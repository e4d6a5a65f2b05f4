// SPDX-License-Identifier: BSD-3-Clause
// Cases that say nothing of the method, for tests that count iterations.
#pragma once

#include <string>

#include "config/read_case.hpp"

namespace trireme::test {

// Makes CG with Jacobi of a case that names no method, in place of the ladder of `method: auto`.
inline Changes cg_unless_named(const std::string& text) {
  Changes changes;
  if (text.find("method:") == std::string::npos)
    changes.overrides.push_back(parse_override("solver.method=cg"));
  return changes;
}

// parse_case() with that.
inline Case parse_with_cg(const std::string& text, const std::string& path) {
  return parse_case(text, path, cg_unless_named(text));
}

}  // namespace trireme::test
