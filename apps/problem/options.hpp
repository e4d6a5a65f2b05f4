// SPDX-License-Identifier: BSD-3-Clause
// The commands and options of problem as CLI11 declares them, and its help.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.hpp"

namespace trireme::problem_app {

struct Options {
  ImportOptions import;
  GenerateOptions generate;
  InspectOptions inspect;
  CacheOptions cache;
};

// `options` must outlive the app.
void declare_options(CLI::App& app, Options& options);

}  // namespace trireme::problem_app
