// SPDX-License-Identifier: BSD-3-Clause
// Advice for a misspelt or misplaced key.
#include "config/unknown_key.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "config/keys.hpp"

namespace trireme {
namespace {

// A key with this name, or nearly this name, in any section.
std::optional<std::string> elsewhere(const std::string& name) {
  std::vector<std::string> leaves, paths;
  for (const Key& key : case_keys()) {
    paths.emplace_back(key.path);
    leaves.push_back(paths.back().substr(paths.back().rfind('.') + 1));  // npos + 1 == 0
  }
  const auto near = nearest(name, leaves);
  if (!near) return std::nullopt;
  return paths[std::ranges::find(leaves, *near) - leaves.begin()];
}

std::string advice(const std::string& section, const std::string& name) {
  const auto siblings = names_under(section);
  if (const auto near = nearest(name, siblings)) {
    return section.empty() ? fmt::format("did you mean '{}'?", *near)
                           : fmt::format("did you mean '{}.{}'?", section, *near);
  }
  if (const auto path = elsewhere(name)) return fmt::format("did you mean '{}'?", *path);
  if (section.empty() || siblings.empty())
    return fmt::format("valid keys at the top: {}", fmt::join(names_under(""), ", "));
  return fmt::format("valid keys under {}: {}", section, fmt::join(siblings, ", "));
}

}  // namespace

void refuse_unknown_key(const std::string& path, std::string_view place) {
  const std::size_t dot = path.rfind('.');
  const std::string section = dot == std::string::npos ? "" : path.substr(0, dot);
  fail(ExitCode::usage, "{}: unknown key '{}'; {}", place, path,
       advice(section, path.substr(dot + 1)));
}

}  // namespace trireme
