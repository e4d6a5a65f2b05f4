// SPDX-License-Identifier: BSD-3-Clause
// What is known of a run: run.json in its folder, by which a study goes on after a stop.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/expand.hpp"
#include "study/process.hpp"

namespace trireme::study {

struct Record {
  Ended ended;
  std::string error;             // the last error line, for a run that failed
  std::filesystem::path folder;  // of the run
};

// The folders in `runs` that have a record, by the hash of their run. A file that is no record is
// no error: its run is repeated.
std::map<std::string, std::filesystem::path> recorded_runs(const std::filesystem::path& runs);

// Empty where there is no record of this run.
std::optional<Record> read_record(const std::filesystem::path& folder, const StudyRun& run);

// Writes run.json, at once whole. Throws Error{usage} or Error{resource} like StagedFile.
void write_record(const Record& record, const StudyRun& run,
                  const std::vector<std::string>& command);

// The last line of the file stderr that begins with "solve: ", else its last line, else nothing.
std::string last_error_line(const std::filesystem::path& folder);

}  // namespace trireme::study
