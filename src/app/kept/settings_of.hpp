// SPDX-License-Identifier: BSD-3-Clause
// The settings of a case on which something depends that a later run takes over.
#pragma once

#include <vector>

#include "config/key_values.hpp"

namespace trireme {

// As values_that_are(). The key petsc has PETSc's options from all places (the case, the command
// line, PETSC_OPTIONS and ~/.petscrc), but for those that only print.
std::vector<KeyValue> settings_that_are(PartOf thing, const Case& c);

}  // namespace trireme
