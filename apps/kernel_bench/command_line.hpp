// SPDX-License-Identifier: BSD-3-Clause
// The options of kernel_bench as CLI11 declares them, and its help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kernel_bench/measurement.hpp"
#include "sparse/generators.hpp"

namespace trireme::bench {

struct Arguments {
  std::string source, group = "/A";
  GenerateSpec spec{.kind = {}, .n = 64};
  std::string device = "cpu";
  std::string json;
  Options options;
  std::vector<std::string> kernels;  // as given: all, or names
};

// `arguments` must outlive the app.
void declare_options(CLI::App& app, Arguments& arguments);

}  // namespace trireme::bench
