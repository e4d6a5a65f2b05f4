// SPDX-License-Identifier: BSD-3-Clause
// The values that the keys have in a case, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/keys.hpp"

namespace trireme {

// What a case would say: "1e-08", "csr, albus", "true", "auto"; a list of PETSc options as
// "ksp_view true, pc_side right". Of problem.steps, the keys have the values of the last entry.
// Empty for sections. Takes a copy, because a key of problem.file changes a case that generates.
std::string value_of(const Key& key, Case c);

struct KeyValue {
  std::string_view path;  // "solver.rtol"
  std::string value;
};
// Those of the keys that are part of `thing`, in the order of the key table. Keys of a section
// that the case does not use are left out.
std::vector<KeyValue> values_that_are(PartOf thing, const Case& c);

}  // namespace trireme
