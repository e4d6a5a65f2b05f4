// SPDX-License-Identifier: BSD-3-Clause
// Pages in the macros of man(7).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "config/keys.hpp"
#include "pages/writers.hpp"
#include "solve/explain_key.hpp"
#include "trireme/commands.hpp"

namespace trireme::pages {
namespace {

// Text in which roff sees no commands.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string as_it_stands(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  // At the margin, because its lines may have 80 columns.
  return text.empty() ? "" : ".in 0\n.nf\n" + roff(text) + "\n.fi\n.in\n";
}

std::string head(const std::string& name, int section, const std::string& version,
                 std::string_view about) {
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(
      ".\\\" Made by the build from the tables of options and keys.\n"
      ".TH {} {} \"\" \"Trireme {}\"\n.SH NAME\n{} \\- {}\n",
      roff(upper), section, version, roff(name), roff(about));
}

std::string option_entry(const Option& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  if (!option.value.empty() && option.names.front() != option.value)
    names += fmt::format(" \\fI{}\\fR", roff(option.value));
  std::string text =
      ".TP\n" + names + "\n" + roff(option.about) + (option.about.ends_with('.') ? "\n" : ".\n");
  if (!option.words.empty() && option.value.find('|') == std::string::npos)
    text += fmt::format("Known: {}.\n", roff(fmt::format("{}", fmt::join(option.words, ", "))));
  return text;
}

std::string entries(const Program& program) {
  std::string text;
  for (const Option& argument : program.arguments) text += option_entry(argument);
  for (const Option& option : program.options) text += option_entry(option);
  for (const Program& command : program.commands)
    text += ".SS " + roff(command.name) + "\n" + roff(command.about) + ".\n" + entries(command);
  return text;
}

std::string see_also(std::string_view but) {
  std::string text = ".SH SEE ALSO\n";
  bool first = true;
  for (const std::string_view page : {"trireme(1)", "trireme\\-solve(1)", "trireme\\-problem(1)",
                                      "trireme\\-bench(1)", "trireme\\-case(5)"}) {
    if (page == but) continue;
    text += fmt::format("{}.BR {} {}", first ? "" : " ,\n", page.substr(0, page.size() - 3),
                        page.substr(page.size() - 3));
    first = false;
  }
  return text + "\n";
}

}  // namespace

std::string front_page(const std::string& version) {
  std::string text = head("trireme", 1, version, "solves large sparse linear systems") +
                     ".SH SYNOPSIS\n.B trireme\n.I COMMAND\n.RI [ ARGUMENTS ]\n.SH COMMANDS\n";
  for (const front::Command& command : front::kCommands)
    text += fmt::format(".TP\n.BI {} \" {}\"\n{}.\n", roff(command.name), roff(command.words),
                        roff(command.about));
  return text +
         ".TP\n.BI help \" [COMMAND [KEY]]\"\nExplain a command, or a key of a case.\n"
         ".SH EXIT STATUS\nThat of the program which a command starts; 2 for an unknown command; "
         "127 where the program is missing.\n" +
         see_also("trireme(1)");
}

std::string program_page(const Program& program, const std::string& version) {
  std::string_view about;
  for (const front::Command& command : front::kCommands)
    if (command.name == program.name) about = command.about;
  std::string arguments;
  for (const Option& argument : program.arguments) arguments += " " + argument.names.front();
  if (!program.commands.empty()) arguments = " COMMAND";
  std::string page = "trireme\\-" + program.name + "(1)";
  return head("trireme-" + program.name, 1, version, about) +
         fmt::format(".SH SYNOPSIS\n.B trireme {}\n.RI [ OPTIONS ]{}\n.SH DESCRIPTION\n",
                     program.name, roff(arguments)) +
         as_it_stands(program.about) + ".SH OPTIONS\n" + entries(program) + ".SH NOTES\n" +
         as_it_stands(program.footer) + see_also(page);
}

std::string case_page(const std::string& version) {
  std::string text = head("trireme-case", 5, version, "the keys of a case of Trireme") +
                     ".SH DESCRIPTION\nA case is a YAML file that says where a system comes from, "
                     "how to solve it, and what to write:\n.PP\n" +
                     as_it_stands("problem: {file: system.h5}\nsolver: {rtol: 1e-8}\n") +
                     ".PP\nOn the command line,\n.B \\-\\-set\n.I KEY=VALUE\nreplaces a key.\n"
                     ".SH KEYS\n";
  for (const std::string& name : key_names()) {
    const std::string explained = solve::explain_key(name);
    text += ".SS " + roff(name) + "\n" + roff(find_key(name)->description) + "\n.PP\n" +
            as_it_stands(explained.substr(explained.find("\n\n")));
  }
  return text + see_also("trireme\\-case(5)");
}

}  // namespace trireme::pages
