// SPDX-License-Identifier: BSD-3-Clause
// The commands of trireme, each of which is a program of its own.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::front {

struct Command {
  std::string_view name;
  std::string_view program;  // that it starts
  std::string_view option;   // which comes before the words of the command; empty: none; --: its
                             // first word names the option
  std::string_view words;    // in the help
  std::string_view about;
};

inline constexpr std::array<Command, 5> kCommands = {{
    {"solve", "solve", "", "[MATRIX] [OPTIONS]", "Solve a system, or compare kernels on it"},
    {"study", "solve", "--study", "FILE [OPTIONS]", "Run many solves, and compare them"},
    {"report", "solve", "--", "compare | figures FILES", "Compare two runs, or draw one"},
    {"problem", "problem", "", "COMMAND [OPTIONS]", "Import, generate and inspect systems"},
    {"bench", "kernel_bench", "", "MATRIX [OPTIONS]", "Measure kernels on one matrix"},
}};

// The commands of report, each of which is an option of its program.
inline constexpr std::array<std::string_view, 2> kOfReports = {"compare", "figures"};

// A program with the words that come after its name.
struct Call {
  std::string_view program = {};  // empty: nothing is started, and `text` is printed
  std::vector<std::string> words = {};
  std::string text = {};
};

// What the words after "trireme" ask for. Throws Error{usage} in one line.
Call call_for(const std::vector<std::string>& words);

}  // namespace trireme::front
