// SPDX-License-Identifier: BSD-3-Clause
// The commands of `problem`. Each throws trireme::Error.
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
  std::string rhs;  // empty: that of the input, if any; ones, random, from-ones, or a file
};
// Converts the input to HDF5. On one rank.
void import(const ImportOptions& options);

struct GenerateOptions {
  GenerateSpec spec;
  std::filesystem::path output;
  std::string matrix = "/A";
  std::string rhs;         // empty: none; ones, random or from-ones
  std::int64_t steps = 0;  // of a sequence of values; 0: none
};
// Writes a model problem. On any number of ranks: each makes its own rows.
void generate_file(const GenerateOptions& options);

struct InspectOptions {
  std::filesystem::path file;
  std::string matrix = "/A";
  int ranks = 1;
  std::string distribution = "rows";  // graph: also the shares after graph partitioning
};
// Prints the statistics of a matrix in a file of any format (io/formats.hpp). On one rank.
void inspect(const InspectOptions& options);

struct CacheOptions {
  std::filesystem::path directory;  // empty: the default folder
  std::string name;                 // the first digits of an entry's name, to explain it
};
// Print what the cache of solve holds, or one entry, or remove all entries. On one rank.
void list_cache(const CacheOptions& options);
void explain_cache(const CacheOptions& options);
void clear_cache(const CacheOptions& options);

}  // namespace trireme::problem_app
