// SPDX-License-Identifier: BSD-3-Clause
// The key table as a JSON schema: completion in editors, and the reference of every key.
#pragma once

#include <string>

namespace trireme {

// JSON Schema (2020-12) of case.yaml with types, units, ranges, defaults; ends with a newline.
// configs/case.schema.json is this text.
std::string case_schema();

}  // namespace trireme
