// SPDX-License-Identifier: BSD-3-Clause
// CLI11's own description of a program, in our words.
#include "pages/program.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace trireme::pages {
namespace {

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, mark);) parts.push_back(part);
  return parts;
}

// The words of "TEXT:{ones,random}" and of "cpu|cuda".
std::vector<std::string> words_of(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos)
    return split(type.substr(open + 1, close - open - 1), ',');
  return type.find('|') == std::string::npos ? std::vector<std::string>() : split(type, '|');
}

Option option_of(const CLI::Option& option) {
  Option result;
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  if (result.names.empty()) result.names.push_back(option.get_name(true));
  result.about = option.get_description();
  if (option.get_items_expected_max() == 0) return result;
  const std::string type = option.get_type_name();
  result.words = words_of(type);
  result.value =
      option.get_option_text().empty() ? type.substr(0, type.find(':')) : option.get_option_text();
  if (result.value.empty()) result.value = "VALUE";
  if (result.value == "FILE" || result.value.starts_with("REPORT.JSON"))
    result.values = Values::file;
  if (result.value == "DIR") result.values = Values::folder;
  return result;
}

template <class List>
auto& found(List& list, std::string_view name, const std::string& where) {
  for (auto& item : list)
    if constexpr (requires { item.names; }) {
      if (std::ranges::find(item.names, name) != item.names.end()) return item;
    } else if (item.name == name || item.name.ends_with(" " + std::string(name))) {
      return item;
    }
  throw std::out_of_range(where + " has no " + std::string(name));
}

}  // namespace

Option& Program::at(std::string_view option) {
  return found(option.starts_with('-') ? options : arguments, option, name);
}

Program& Program::command(std::string_view wanted) { return found(commands, wanted, name); }

Program program_of(const CLI::App& app, const std::string& name) {
  Program program{.name = name,
                  .about = app.get_description(),
                  .footer = app.get_footer(),
                  .options = {},
                  .arguments = {},
                  .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    const bool dashes = !option->get_lnames().empty() || !option->get_snames().empty();
    (dashes ? program.options : program.arguments).push_back(option_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    program.commands.push_back(program_of(*command, name + " " + command->get_name()));
  return program;
}

}  // namespace trireme::pages
