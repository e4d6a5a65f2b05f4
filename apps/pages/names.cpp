// SPDX-License-Identifier: BSD-3-Clause
// Names from the tables of the other folders.
#include <variant>

#include "config/keys.hpp"
#include "io/formats.hpp"
#include "pages/writers.hpp"
#include "trireme/commands.hpp"

namespace trireme::pages {

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const front::Command& command : front::kCommands) names.emplace_back(command.name);
  names.emplace_back("help");
  return names;
}

std::vector<std::string> matrix_extensions() {
  std::vector<std::string> extensions;
  for (const InputFormat& format : input_formats())
    for (const std::string_view extension : format.extensions)
      extensions.emplace_back(extension.substr(1));
  return extensions;
}

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const Key& key : case_keys())
    if (!std::holds_alternative<field::Section>(key.field) &&
        !std::holds_alternative<field::Sections>(key.field) &&
        !std::holds_alternative<field::PetscOptions>(key.field))
      names.emplace_back(key.path);
  return names;
}

}  // namespace trireme::pages
