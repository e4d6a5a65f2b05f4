// SPDX-License-Identifier: BSD-3-Clause
// Text -> one YAML document of bounded size.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace trireme {

// The most nodes of one document, where an alias counts as all that it stands for.
constexpr std::size_t kMaxYamlNodes = 10'000;

// The root of the only document in `text`; a null node where there is none. Throws Error{usage},
// beginning with `name` and the place, for what is not YAML, for a second document, for an alias
// within its own anchor, and for more than kMaxYamlNodes. So a walk over the tree always ends
// soon.
YAML::Node load_yaml(const std::string& text, const std::string& name);

}  // namespace trireme
