// SPDX-License-Identifier: BSD-3-Clause
// The three commands of `problem`. Each throws trireme::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sparse/generators.hpp"

namespace trireme::problem_app {

struct ImportOptions {
  std::filesystem::path input;
  std::filesystem::path output;
  std::string matrix = "/A";
  std::string rhs;  // empty: what the input has; ones, random, from-ones, or an .mtx file
};
// On one rank.
void import(const ImportOptions& options);

struct GenerateOptions {
  GenerateSpec spec;
  std::filesystem::path output;
  std::string matrix = "/A";
  std::string rhs;  // empty: none; ones, random or from-ones
};
// On any number of ranks: each makes its own rows.
void generate_file(const GenerateOptions& options);

struct InspectOptions {
  std::filesystem::path file;
  std::string matrix = "/A";
  int ranks = 1;
};
// Reads a file of any format of io/formats.hpp. On one rank.
void inspect(const InspectOptions& options);

}  // namespace trireme::problem_app
