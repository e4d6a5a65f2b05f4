// SPDX-License-Identifier: BSD-3-Clause
// The key table as a JSON schema, for completion in editors and as the reference of every key.
#pragma once

#include <string>

namespace trireme {

// JSON Schema (2020-12) of case.yaml with types, units, ranges and defaults. The text ends with a
// newline; configs/case.schema.json is this text.
std::string case_schema();

}  // namespace trireme
