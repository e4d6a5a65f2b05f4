// SPDX-License-Identifier: BSD-3-Clause
// A study as plain structs: which runs of solve it has, and what is compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/keys.hpp"

namespace trireme::study {

// One key of a run with its value.
struct Setting {
  std::string key;     // of a case ("solver.rtol"), or one of kRunKeys
  std::string text;    // the value for tables and for comparisons: csr, /data/a.mtx
  std::string yaml;    // the same value for --set
  std::string origin;  // for messages: "study.yaml:4:12"
};

// Keys of a run that are no keys of a case.
inline constexpr std::string_view kCase = "case";        // file of the case
inline constexpr std::string_view kPreset = "preset";    // as --preset
inline constexpr std::string_view kProgram = "program";  // in place of this program
inline constexpr std::string_view kRanks = "ranks";      // processes, started by the launcher
inline constexpr std::string_view kThreads = "threads";  // OMP_NUM_THREADS
inline constexpr std::string_view kOptions = "options";  // further words of the command line
inline constexpr std::string_view kRunKeys[] = {kCase,  kPreset,  kProgram,
                                                kRanks, kThreads, kOptions};

// One value of a dimension. A problem may take several settings: {generate: poisson3d, n: 32}.
using Value = std::vector<Setting>;

// What each run does: it solves a case with solve, or it multiplies by the kernels in turns with
// kernel_bench.
enum class Measure { solve, products };

struct Dimension {
  std::string key;  // as written: "kernel", "problem"
  std::vector<Value> values;
};

struct Study {
  std::filesystem::path path;  // the file or the folder, for messages
  Measure measure = Measure::solve;
  std::vector<Setting> fixed;         // the settings of every run
  std::vector<Dimension> dimensions;  // every combination of their values is run
  std::vector<Setting> baseline;      // empty: the first value of the first dimension of variants
  // A ratio is the figure of the baseline over that of the variant (false), or the reverse (true).
  bool speed_up_of_baseline = false;
  std::vector<std::string> figures = {"product"};  // names of figures.hpp
  std::vector<int> accept = {0};                   // exit codes of runs whose figures count
  std::int64_t repeat = 1;                         // runs of each combination
  double limit = 600;                              // seconds per run
  double total = 0;                                // seconds per start of the study; 0: no limit
  double memory = 0;                               // bytes of all processes of a run; 0: no limit
  std::string launcher = "mpirun -n {}";           // {} is the number of ranks
  std::filesystem::path directory;                 // relative to the current directory
  std::vector<std::string> words;                  // of the command line of every run
};

// True for keys that say which system is solved: they make the rows of a table. All other keys
// make its columns, the variants.
inline bool is_problem_key(std::string_view key) {
  return key == kCase || key == "problem" || key.starts_with("problem.");
}

// True for keys whose value is a file that is read: patterns stand for all files that match.
inline bool names_file(std::string_view key) {
  const Key* const of_case = find_key(key);
  return key == kCase || key == kPreset ||
         (of_case && std::holds_alternative<field::File>(of_case->field));
}

}  // namespace trireme::study
