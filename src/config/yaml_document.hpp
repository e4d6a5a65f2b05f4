// SPDX-License-Identifier: BSD-3-Clause
// Text -> one YAML document of bounded size.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace trireme {

// Maximum number of nodes of one document. An alias counts as all nodes that it stands for.
constexpr std::size_t kMaxYamlNodes = 10'000;

// The root of the only document in `text`, or a null node where there is none. Throws Error{usage},
// with `name` and the place, for a text that is not YAML, for a second document, for an alias
// within its own anchor, and for more than kMaxYamlNodes nodes. These limits bound a walk over the
// tree.
YAML::Node load_yaml(const std::string& text, const std::string& name);

}  // namespace trireme
