// SPDX-License-Identifier: BSD-3-Clause
// Study -> the runs that it has, each with the words of its command line.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "study/study.hpp"

namespace trireme::study {

// One process of a study.
struct StudyRun {
  Value settings;  // fixed ones and those of each dimension; a later one wins
  std::int64_t repetition = 1;
  std::filesystem::path program;   // empty: this program
  std::vector<std::string> words;  // after the program: --config ... --set ...
  int ranks = 1;
  std::string threads;  // OMP_NUM_THREADS; empty: as it is
  std::string name;     // for a folder: "poisson3d-n=32,csr"
  std::string hash;     // of all that makes the run: 16 hexadecimal digits
};

// All combinations, `repeat` times one after the other. Each case is read and checked, so that a
// misspelt key or a value of a wrong type throws Error{usage} before anything runs. `no_case` is
// the file with an empty map that stands for a case where the study names none; it need not exist
// yet. Throws Error{usage} where the baseline is the setting of no run.
std::vector<StudyRun> expand(const Study& study, const std::filesystem::path& no_case);

// The label of one setting in tables: "csr", "n=32", "2 ranks", "memplus".
std::string label(const Setting& setting);

}  // namespace trireme::study
