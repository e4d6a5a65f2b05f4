// SPDX-License-Identifier: BSD-3-Clause
// One YAML value -> its member of a Case, by the type that the key table gives it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <string>
#include <string_view>

#include "config/keys.hpp"

namespace trireme {

// Where a node was written: "case.yaml:5:9", or the override that gave it.
using PlaceOf = std::function<std::string(const YAML::Node&)>;

// Checks type, range and enumeration, then stores. Errors begin with the place and the key. Not for
// sections and PETSc options.
void assign_value(Case& c, const Key& key, const YAML::Node& value, const PlaceOf& place);

// A scalar as PETSc wants it ("true" and "1e-8" as they stand, null as no value); lists of scalars
// are joined by commas.
std::string petsc_value(const YAML::Node& value, std::string_view name, const PlaceOf& place);

}  // namespace trireme
