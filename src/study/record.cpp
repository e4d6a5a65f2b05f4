// SPDX-License-Identifier: BSD-3-Clause
// Records as JSON.
#include "study/record.hpp"

#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "base/staged_file.hpp"
#include "study/json.hpp"

namespace trireme::study {
namespace {

namespace fs = std::filesystem;

constexpr int kRecordSchema = 1;
constexpr std::size_t kLongestLine = 300;
constexpr std::pair<End, const char*> kWords[] = {{End::exited, "exited"},
                                                  {End::signalled, "signalled"},
                                                  {End::time, "time limit"},
                                                  {End::memory, "memory limit"},
                                                  {End::not_started, "not started"}};

const char* word_of(End end) {
  for (const auto& [value, word] : kWords)
    if (value == end) return word;
  return "interrupted";
}

std::optional<Json> json_in(const fs::path& folder) {
  std::ifstream file(folder / "run.json");
  Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || json.value("schema", Json()) != kRecordSchema) return std::nullopt;
  return json;
}

}  // namespace

std::map<std::string, fs::path> recorded_runs(const fs::path& runs) {
  std::map<std::string, fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs, error))
    if (const auto json = json_in(entry.path()); json && json->value("hash", Json()).is_string())
      found.emplace(json->at("hash").get<std::string>(), entry.path());
  return found;
}

std::optional<Record> read_record(const fs::path& folder, const StudyRun& run) {
  const auto json = json_in(folder);
  if (!json) return std::nullopt;
  try {
    if (json->at("hash") != run.hash) return std::nullopt;
    Record record;
    record.error = json->at("error");
    record.folder = folder;
    const std::string how = json->at("end");
    bool known = false;
    for (const auto& [value, word] : kWords)
      if (how == word) record.ended.how = value, known = true;
    record.ended.exit_code = json->at("exit_code");
    record.ended.signal = json->at("signal");
    record.ended.seconds = json->at("seconds");
    record.ended.peak_memory = json->at("peak_memory_bytes");
    if (!known) return std::nullopt;
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void write_record(const Record& record, const StudyRun& run,
                  const std::vector<std::string>& command) {
  Json settings = Json::object();
  for (const Setting& s : run.settings) settings[s.key] = s.text;
  const Json json = {{"schema", kRecordSchema},
                     {"hash", run.hash},
                     {"settings", settings},
                     {"repetition", run.repetition},
                     {"command", command},
                     {"end", word_of(record.ended.how)},
                     {"exit_code", record.ended.exit_code},
                     {"signal", record.ended.signal},
                     {"seconds", record.ended.seconds},
                     {"peak_memory_bytes", record.ended.peak_memory},
                     {"error", record.error}};
  StagedFile file(record.folder / "run.json");
  file.write(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

std::string last_error_line(const fs::path& folder) {
  std::ifstream file(folder / "stderr");
  std::string last, last_of_solve;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("solve: ")) last_of_solve = line.substr(std::string("solve: ").size());
    if (line.find_first_not_of(" \t\r-") != std::string::npos) last = line;
  }
  std::string line = one_line(last_of_solve.empty() ? last : last_of_solve);
  if (line.size() > kLongestLine) line = line.substr(0, kLongestLine) + "...";
  return line;
}

}  // namespace trireme::study
