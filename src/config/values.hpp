// SPDX-License-Identifier: BSD-3-Clause
// One YAML value -> its member of a Case, by the type that the key table gives it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/keys.hpp"

namespace trireme {

// The place of a node: "case.yaml:5:9", or the override that it comes from.
using PlaceOf = std::function<std::string(const YAML::Node&)>;

// Seconds of "1h30m", "10m", "90s" or "0.5s". Empty for any other text and for no time at all.
std::optional<double> parse_duration(std::string_view text);

// Checks type, range and known words, then stores the value. Errors begin with the place and the
// key. Does nothing for sections and PETSc options. Names of files are relative to `folder`.
void assign_value(Case& c, const Key& key, const YAML::Node& value, const PlaceOf& place,
                  const std::filesystem::path& folder);

// The text of a value for PETSc. A scalar stays as it is ("true", "1e-8"), null is an empty text,
// and a list of scalars is joined by commas.
std::string petsc_value(const YAML::Node& value, std::string_view name, const PlaceOf& place);

}  // namespace trireme
