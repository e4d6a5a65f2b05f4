// SPDX-License-Identifier: BSD-3-Clause
// The command line of solve as a struct.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"
#include "config/case.hpp"
#include "config/read_case.hpp"

namespace trireme {

namespace solve {
enum class ProgressKind {
  bar,    // one line that is rewritten
  plain,  // lines
  none
};
}  // namespace solve
template <>
struct WordsOf<solve::ProgressKind> {
  static constexpr Word<solve::ProgressKind> all[] = {{"bar", solve::ProgressKind::bar},
                                                      {"plain", solve::ProgressKind::plain},
                                                      {"none", solve::ProgressKind::none}};
};

namespace solve {

enum class Action {
  solve,
  check,
  explain,
  study,
  list_study,
  compare,
  figures,
  print_case,
  print_help,
  print_version,
  print_schema,
  print_report_schema,
  list_kernels
};

struct Arguments {
  Action action = Action::solve;
  std::filesystem::path config;                 // the case, or the study; "-": standard input
  std::string matrix;                           // in place of a case: "in.mtx", "in.h5:/K"
  Changes changes;                              // of --preset, --set, and options for one key
  std::optional<std::filesystem::path> output;  // replaces report.directory
  std::optional<ProgressKind> progress;  // empty: bar on a terminal, else lines of long runs alone
  bool quiet = false;
  bool resume = false;
  bool again = false;                // with study: repeat what has ended
  std::vector<std::string> reports;  // with compare: the two files; with figures: folder, file
  CacheSpec cache;                   // of --cache and --no-cache
  std::vector<std::string> petsc;    // what follows "--", as it stands
  std::string help;                  // for print_help
};

// Throws Error{usage} in one line.
Arguments parse_arguments(int argc, const char* const* argv);

}  // namespace solve
}  // namespace trireme
