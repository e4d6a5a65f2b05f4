// SPDX-License-Identifier: BSD-3-Clause
// Runs all of a study that has not run yet, one process after the other, and writes its summary.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "study/study.hpp"

namespace trireme::study {

struct RunStudyOptions {
  std::filesystem::path program;  // solve
  bool again = false;             // repeats the runs that have ended
  bool starts = false;            // says on standard error which run begins
  bool quiet = false;             // prints neither a line per run nor the tables
};

// Runs the processes and writes summary.json, summary.md, summary.html and runs.csv to the study's
// directory. A run that has ended, in any way, is not repeated, unless its case has changed. A
// signal, or the limit on the total time, ends the running process and leaves its run and those
// after it for the next call. Returns 0 where every run has ended with figures that count, and
// otherwise 5. Throws Error{usage} where the study is wrong, its directory cannot be written or
// another process runs the study there. MPI must not be initialised.
ExitCode run_study(const Study& study, const RunStudyOptions& options, std::FILE* out);

// The runs of a study, one line each with the command.
std::string list_runs(const Study& study, const std::filesystem::path& program);

}  // namespace trireme::study
