// SPDX-License-Identifier: BSD-3-Clause
// The command line of solve as a struct.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/case.hpp"
#include "config/read_case.hpp"

namespace trireme::solve {

enum class Action {
  solve,
  check,
  explain,
  study,
  list_study,
  compare,
  print_help,
  print_version,
  print_schema,
  print_report_schema,
  list_kernels
};

struct Arguments {
  Action action = Action::solve;
  std::filesystem::path config;                 // the case, or the study
  Changes changes;                              // of --preset, --set, --kernel, --device
  std::optional<std::filesystem::path> output;  // replaces report.directory
  bool quiet = false;
  bool resume = false;
  bool again = false;                // with study: repeat what has ended
  std::vector<std::string> reports;  // with compare: the two files
  CacheSpec cache;                   // of --cache and --no-cache
  std::vector<std::string> petsc;    // what follows "--", as it stands
  std::string help;                  // for print_help
};

// Throws Error{usage} in one line.
Arguments parse_arguments(int argc, const char* const* argv);

}  // namespace trireme::solve
