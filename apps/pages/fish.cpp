// SPDX-License-Identifier: BSD-3-Clause
// One line per option.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/known_values.hpp"
#include "pages/writers.hpp"

namespace trireme::pages {
namespace {

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string fish_values(const Option& option) {
  const std::string words =
      option.words.empty() ? ""
                           : " -a " + fish_text(fmt::format("{}", fmt::join(option.words, " ")));
  switch (option.values) {
    case Values::other:
      return " -x" + words;
    case Values::file:
      return " -r -F" + words;
    case Values::matrix:
      return " -f -k -a '(__trireme_matrices)'" + words;
    case Values::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Values::assignment:
      return " -x -a '(__trireme_assignments)'";
    case Values::key:
      return " -x -a '(__trireme_keys)'";
  }
  return "";
}

// `when`: the condition of fish, without quotes; empty: always.
std::string fish_lines(const Program& program, std::string_view name, const std::string& when) {
  const std::string begin =
      fmt::format("complete -c {}{}", name, when.empty() ? "" : " -n " + fish_text(when));
  std::string text;
  for (const Option& option : program.options) {
    text += begin;
    for (const std::string& word : option.names)
      text += word.starts_with("--") ? " -l " + word.substr(2) : " -s " + word.substr(1);
    if (!option.value.empty()) text += fish_values(option);
    text += " -d " + fish_text(option.about) + "\n";
  }
  for (const Option& argument : program.arguments) text += begin + fish_values(argument) + "\n";
  std::vector<std::string> below;
  for (const Program& command : program.commands)
    below.push_back(command.name.substr(command.name.rfind(' ') + 1));
  const std::string both = when.empty() ? "" : when + "; and ";
  for (std::size_t i = 0; i < below.size(); ++i) {
    text += fmt::format(
        "complete -c {} -n {} -f -a {} -d {}\n", name,
        fish_text(both + fmt::format("not __fish_seen_subcommand_from {}", fmt::join(below, " "))),
        below[i], fish_text(program.commands[i].about));
    text += fish_lines(program.commands[i], name, both + "__fish_seen_subcommand_from " + below[i]);
  }
  return text;
}

}  // namespace

std::string fish_completion(const std::vector<Program>& programs,
                            const std::vector<Completed>& names) {
  std::string assignments;
  for (const std::string& name : key_names()) {
    assignments += " " + name + "=";
    for (const std::string& word : known_values(*find_key(name)))
      assignments += fmt::format(" {}={}", name, word);
  }
  std::string text = fmt::format(
      "# Completion for fish, made by the build from the tables of options and keys.\n"
      "function __trireme_keys\n    printf '%s\\n' {}\nend\n"
      "function __trireme_assignments\n    printf '%s\\n'{}\nend\n"
      "function __trireme_matrices\n    __fish_complete_directories\n"
      "    for ending in .{}\n        __fish_complete_suffix $ending\n    end\nend\n",
      fmt::join(key_names(), " "), assignments, fmt::join(matrix_extensions(), " ."));
  for (const Completed& name : names)
    for (const Program& program : programs) {
      if (!name.context.empty()) {
        if (program.name == name.context) text += fish_lines(program, name.name, "");
        continue;
      }
      text += fish_lines(program, name.name,
                         "__fish_seen_subcommand_from " + program.name +
                             (program.name == "solve" ? " study" : ""));
    }
  return text +
         fmt::format(
             "complete -c trireme -n __fish_use_subcommand -f -a '{}'\n"
             "complete -c trireme -n __fish_use_subcommand -l version\n"
             "complete -c trireme -n '__fish_seen_subcommand_from report' -a 'compare figures'\n"
             "complete -c trireme -n '__fish_seen_subcommand_from help' -f -a '{} "
             "(__trireme_keys)'\n",
             fmt::join(command_names(), " "), fmt::join(command_names(), " "));
}

}  // namespace trireme::pages
