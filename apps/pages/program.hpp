// SPDX-License-Identifier: BSD-3-Clause
// A command line as plain data, from which completions and man pages are written.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::pages {

// What a value may be, beside the words of its option.
enum class Values { other, file, matrix, folder, assignment, key };

struct Option {
  std::vector<std::string> names;  // "--kernel", "-n"; of an argument without dashes: "MATRIX"
  std::string value;               // as the help has it, "K[,K...]"; empty: takes none
  std::string about;
  std::vector<std::string> words;  // that may be the value
  Values values = Values::other;
  bool is_list = false;  // of words, with commas between them
};

struct Program {
  std::string name;   // "problem import"
  std::string about;  // may have several lines, of which the first one is a sentence
  std::string footer;
  std::vector<Option> options, arguments;
  std::vector<Program> commands;

  // The option or the argument with this name. Throws std::out_of_range where there is none.
  Option& at(std::string_view option);
  Program& command(std::string_view wanted);  // likewise
};

// What CLI11 knows. Words are those of CLI::IsMember and of values such as "cpu|cuda".
Program program_of(const CLI::App& app, const std::string& name);

// The commands of trireme with the words that their values may have.
std::vector<Program> programs();

}  // namespace trireme::pages
