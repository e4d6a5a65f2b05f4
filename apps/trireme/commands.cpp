// SPDX-License-Identifier: BSD-3-Clause
// Words of a command become words of a program.
#include "trireme/commands.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace trireme::front {
namespace {

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

std::string help() {
  std::string text =
      "Trireme solves large sparse linear systems A x = b.\n"
      "Usage: trireme COMMAND ...\n\nCommands:\n";
  for (const Command& command : kCommands)
    text += fmt::format("  {:<10}{:<24}{}\n", command.name, command.words, command.about);
  return text +
         R"(  help      [COMMAND [KEY]]         Explain a command, or a key of a case

  trireme solve matrix.mtx --rtol 1e-10
  mpirun -n 8 trireme solve --config case.yaml
  trireme help solve solver.rtol

--version: the version; trireme solve --version: those of the libraries too.

Exit codes: those of the program that a command starts (trireme help COMMAND);
2 for an unknown command; 127 where the program is not beside trireme.
)";
}

const Command& command_of(const std::string& name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  if (found != kCommands.end()) return *found;
  std::vector<std::string> names = {"help"};
  for (const Command& command : kCommands) names.emplace_back(command.name);
  const auto near = nearest(name, names);
  fail(ExitCode::usage, "no command '{}'{}; see trireme --help", name,
       near ? "; did you mean '" + *near + "'?" : "");
}

Call help_call(const std::vector<std::string>& topics) {
  if (topics.empty()) return {.text = help()};
  Call call{.program = command_of(topics.front()).program, .words = {"--help"}};
  call.words.insert(call.words.end(), topics.begin() + 1, topics.end());
  return call;
}

}  // namespace

Call call_for(const std::vector<std::string>& words) {
  if (words.empty()) fail(ExitCode::usage, "no command given; see trireme --help");
  const std::string& first = words.front();
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (is_help(first) || first == "help") return help_call(rest);
  if (first == "--version") return {.text = "trireme " TRIREME_VERSION "\n"};

  const Command& command = command_of(first);
  if (!command.option.empty()) {
    if (!rest.empty() && is_help(rest.front())) return help_call({first});
    std::string option(command.option);
    if (command.name == "report") {
      if (rest.empty() || std::ranges::find(kOfReports, rest.front()) == kOfReports.end())
        fail(ExitCode::usage,
             "trireme report has two commands: trireme report compare A.json B.json, and trireme "
             "report figures FOLDER REPORT.json");
      option += rest.front();
      rest.erase(rest.begin());
    }
    if (rest.empty() || rest.front().starts_with('-'))
      fail(ExitCode::usage, "files come first: trireme {} {}", command.name, command.words);
    rest.insert(rest.begin(), option);
  }
  return {.program = command.program, .words = std::move(rest)};
}

}  // namespace trireme::front
