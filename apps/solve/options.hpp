// SPDX-License-Identifier: BSD-3-Clause
// The options of solve as CLI11 declares them, and its help.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace trireme::solve {

// What stands on the command line before "--", word by word.
struct Words {
  std::string matrix, config, study, output, cache, progress;
  std::vector<std::string> presets, kernels, sets, reports, figures;
  std::map<std::string, std::string> shorthands;  // "--rtol": "1e-10"
  bool again = false, resume = false, quiet = false, no_cache = false;
  bool check = false, explain = false;  // in place of a solve
  bool print_case = false, version = false, schema = false, report_schema = false,  // print and end
      list = false;
};

// `words` must outlive the app.
void declare_options(CLI::App& app, Words& words);

}  // namespace trireme::solve
