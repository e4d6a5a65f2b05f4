// SPDX-License-Identifier: BSD-3-Clause
// One call of _arguments per command.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/known_values.hpp"
#include "pages/writers.hpp"

namespace trireme::pages {
namespace {

// Within single quotes, as a part of a specification of _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string zsh_action(const Option& option) {
  const std::string words = fmt::format("{}", fmt::join(option.words, " "));
  switch (option.values) {
    case Values::other:
      if (option.words.empty()) return " ";
      return option.is_list ? fmt::format("_sequence compadd - {}", words)
                            : fmt::format("({})", words);
    case Values::file:
      return fmt::format("_trireme_words_or_files {}", words);
    case Values::matrix:
      return fmt::format("_trireme_words_or_matrices {}", words);
    case Values::folder:
      return "_files -/";
    case Values::assignment:
      return "_trireme_assignment";
    case Values::key:
      return "_trireme_key";
  }
  return " ";
}

std::string zsh_name(const std::string& context) {
  std::string name = "_trireme_" + context;
  for (char& c : name)
    if (c == ' ') c = '_';
  return name;
}

// The function of a command, and those of the commands below it.
std::string zsh_function(const Program& program, const std::string& context) {
  std::string text = zsh_name(context) + "() {\n  _arguments -S";
  for (const Option& option : program.options)
    for (const std::string& name : option.names) {
      const bool equals = !option.value.empty() && name.starts_with("--");
      text += fmt::format(" \\\n    '*{}{}[{}]{}'", name, equals ? "=" : "", zsh_text(option.about),
                          option.value.empty() ? ""
                                               : fmt::format(":{}:{}", zsh_text(option.value),
                                                             zsh_text(zsh_action(option))));
    }
  std::string below, choices;
  if (program.commands.empty()) {
    for (const Option& argument : program.arguments)
      text += fmt::format(" \\\n    ':{}:{}'", zsh_text(argument.names.front()),
                          zsh_text(zsh_action(argument)));
    return text + "\n}\n\n";
  }
  for (const Program& command : program.commands) {
    const std::string word = command.name.substr(command.name.rfind(' ') + 1);
    choices += (choices.empty() ? "" : " ") + word;
    below += zsh_function(command, fmt::format("{} {}", context, word));
  }
  return below + text +
         fmt::format(
             " \\\n    ':command:({})' '*:: :->below'\n"
             "  [[ $state == below ]] && _call_function - {}_$words[1]\n}}\n\n",
             choices, zsh_name(context));
}

}  // namespace

std::string zsh_completion(const std::vector<Program>& programs,
                           const std::vector<Completed>& names) {
  std::string heads, cases, values, keys;
  for (const Completed& name : names) {
    heads += fmt::format(" {}", name.name);
    cases += name.context.empty() ? ""
                                  : fmt::format("  {}) {}; return ;;\n", name.name,
                                                zsh_name(std::string(name.context)));
  }
  for (const Key& key : case_keys())
    if (const auto words = known_values(key); !words.empty())
      values += fmt::format("    {}) compadd -- {} ;;\n", key.path, fmt::join(words, " "));
  std::string text = fmt::format(
      "#compdef{}\n# Completion for zsh, made by the build from the tables of options and keys.\n\n"
      "_trireme_key() {{ compadd -- {} }}\n\n"
      "_trireme_assignment() {{\n  local key=${{PREFIX%%=*}}\n"
      "  if ! compset -P '*='; then\n    compadd -S = -- {}\n    return\n  fi\n"
      "  case $key in\n{}  esac\n}}\n\n"
      "_trireme_words_or_files() {{ compadd -- $@; _files }}\n"
      "_trireme_words_or_matrices() {{ compadd -- $@; _files -g '*.({})(-.)' }}\n\n",
      heads, fmt::join(key_names(), " "), fmt::join(key_names(), " "), values,
      fmt::join(matrix_extensions(), "|"));
  for (const Program& program : programs) text += zsh_function(program, program.name);
  text += fmt::format(
      "_trireme_study() {{ _trireme_solve }}\n"
      "_trireme_report() {{ _arguments ':command:(compare figures)' ':report:_files' "
      "':report:_files' }}\n"
      "_trireme_help() {{ _arguments ':command:({0})' ':key:_trireme_key' }}\n\n"
      "_trireme() {{\n  local context state line\n  case $service in\n{1}  esac\n"
      "  _arguments '--help[Print the commands]' '--version[Print the version]' \\\n"
      "    ':command:({0})' '*:: :->below'\n"
      "  [[ $state == below ]] && _call_function - _trireme_$words[1]\n}}\n\n_trireme \"$@\"\n",
      fmt::join(command_names(), " "), cases);
  return text;
}

}  // namespace trireme::pages
