// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a command line, in one line, for all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/nearest.hpp"

namespace trireme {

// The error of `app` in CLI11's words. Where a word was not expected, the option or the command
// that was probably meant follows: "...: --verison; did you mean '--version'?".
inline std::string in_words(const CLI::App& app, const CLI::ParseError& error) {
  std::vector<std::string> options, commands;
  const auto add_names = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    for (const CLI::App* command : of.get_subcommands([](const CLI::App*) { return true; }))
      commands.push_back(command->get_name());
  };
  add_names(app);
  for (const CLI::App* command : app.get_subcommands()) add_names(*command);
  std::string text = error.what();
  for (const std::string& word : app.remaining(true)) {
    const auto near =
        nearest(word.substr(0, word.find('=')), word.starts_with('-') ? options : commands);
    if (near) return text + "; did you mean '" + *near + "'?";
  }
  return text;
}

}  // namespace trireme
