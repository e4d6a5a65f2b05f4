// SPDX-License-Identifier: BSD-3-Clause
// The loop over the runs. What is known stands in the folders of the runs.
#include "study/run_study.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/printable.hpp"
#include "base/staged_file.hpp"
#include "base/stopwatch.hpp"
#include "report/report.hpp"
#include "report/words.hpp"
#include "study/expand.hpp"
#include "study/process.hpp"
#include "study/product_words.hpp"
#include "study/record.hpp"
#include "study/render.hpp"
#include "study/summary.hpp"

namespace trireme::study {
namespace {

namespace fs = std::filesystem;

// Held while a process works in a directory of results: this one, its guardian, or a run, which all
// inherit it. A run that outlives its study still writes there.
class DirectoryLock {
 public:
  explicit DirectoryLock(const fs::path& directory) {
    descriptor_ = open((directory / ".lock").c_str(), O_RDWR | O_CREAT, 0666);
    if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(descriptor_);
      fail(ExitCode::usage,
           "{}: another process runs a study there, or a run of it still ends; wait, or choose "
           "another --output",
           directory.string());
    }
  }
  ~DirectoryLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

void write_file(const fs::path& path, const std::string& text) {
  StagedFile file(path);
  file.write(text);
  file.commit();
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ExitCode::usage, "{}: cannot be made ({})", folder.string(), error.message());
}

fs::path no_case_in(const Study& study) { return fs::absolute(study.directory) / "no-case.yaml"; }

// `folder` is where the run writes.
std::vector<std::string> command_of(const Study& study, const StudyRun& run,
                                    const fs::path& program, const fs::path& folder) {
  std::vector<std::string> words;
  if (run.ranks > 1) {
    std::istringstream launcher(study.launcher);
    for (std::string word; launcher >> word;) {
      if (const auto place = word.find("{}"); place != std::string::npos)
        word.replace(place, 2, std::to_string(run.ranks));
      words.push_back(word);
    }
  }
  if (study.measure == Measure::products) {
    words.push_back((run.program.empty() ? bench_program(program) : run.program).string());
    words.insert(words.end(), run.words.begin(), run.words.end());
    words.insert(words.end(), {"--json", (folder / kProductsFile).string()});
    return words;
  }
  words.push_back((run.program.empty() ? program : run.program).string());
  words.insert(words.end(), {"--output", folder.string(), "--quiet"});
  words.insert(words.end(), run.words.begin(), run.words.end());
  return words;
}

class StudyRunner {
 public:
  StudyRunner(const Study& study, const RunStudyOptions& options, std::FILE* out)
      : study_(study), options_(options), out_(out), folder_(fs::absolute(study.directory)) {}

  ExitCode run() {
    runs_ = expand(study_, no_case_in(study_));
    check_writable(folder_);
    make_folder(folder_ / "runs");
    const DirectoryLock lock(folder_);
    write_file(no_case_in(study_), "{}\n");
    find_records();
    say(fmt::format("{}: {} runs, {} of them done before\n", study_.path.string(), runs_.size(),
                    std::ranges::count_if(records_, [](const auto& r) { return r.has_value(); })));
    StopSignals stop;
    for (std::size_t i = 0; i < runs_.size() && !stopped_; ++i)
      if (!records_[i]) run_one(i, stop);
    return finish(stop);
  }

 private:
  void say(const std::string& text) const {
    if (options_.quiet) return;
    print_text(out_, text);
    std::fflush(out_);
  }

  void find_records() {
    const auto known = recorded_runs(folder_ / "runs");
    records_.resize(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto found = known.find(runs_[i].hash);
      folders_.push_back(found == known.end() ? fs::path() : found->second);
      if (found != known.end()) taken_.insert(found->second);
      if (found == known.end() || options_.again) continue;
      const auto record = read_record(found->second, runs_[i]);
      // A run that had less time than it may take has not ended by itself.
      const bool cut =
          record && record->ended.how == End::time && record->ended.seconds < study_.limit;
      if (!cut) records_[i] = record;
    }
  }

  // An empty folder for a run: the one of its earlier process, or one with its name.
  fs::path empty_folder(std::size_t i) {
    fs::path folder = folders_[i];
    if (folder.empty()) {
      folder = folder_ / "runs" / runs_[i].name;
      if (taken_.contains(folder)) folder += "~" + runs_[i].hash;
      taken_.insert(folder);
    }
    std::error_code error;
    fs::remove_all(folder, error);
    make_folder(folder);
    return folder;
  }

  void run_one(std::size_t i, StopSignals& stop) {
    const StudyRun& run = runs_[i];
    double limit = study_.limit;
    if (study_.total > 0) {
      const double left = study_.total - watch_.seconds();
      if (left <= 0) return stop_for("the total time is over");
      limit = std::min(limit, left);
    }
    if (stop.count() > 0) return stop_for("stopped by a signal");
    Record record;
    record.folder = empty_folder(i);
    const auto command = command_of(study_, run, options_.program, record.folder);
    Launch launch{.words = command,
                  .environment = {},
                  .folder = record.folder,
                  .seconds = limit,
                  .bytes = study_.memory};
    if (!run.threads.empty()) launch.environment.emplace_back("OMP_NUM_THREADS", run.threads);

    if (options_.starts && !options_.quiet)
      print_text(stderr, fmt::format("{} {} ...\n", number_of(i), run.name));
    record.ended = run_process(launch, stop);
    if (record.ended.how == End::interrupted) return stop_for("stopped by a signal");
    if (record.ended.how == End::time && limit < study_.limit)
      return stop_for("the total time is over");
    record.error =
        record.ended.how == End::not_started ? record.ended.error : last_error_line(record.folder);
    std::error_code ignored;
    fs::remove(record.folder / "state.h5", ignored);  // A run of a study is not resumed.
    write_record(record, run, command);
    records_[i] = record;
    ++ran_;
    say(line_of(i));
  }

  void stop_for(const std::string& why) {
    stopped_ = true;
    why_ = why;
  }

  // " 3/40"
  std::string number_of(std::size_t i) const {
    return fmt::format("{:>{}}/{}", i + 1, std::to_string(runs_.size()).size(), runs_.size());
  }

  // "  3/40 memplus, csr: product 812 us, 1.23 s; about 3 min 20 s left"
  std::string line_of(std::size_t i) const {
    std::string figures;
    const auto results = results_of(study_, runs_[i], records_[i]);
    for (const Result& result : results) {
      if (!figures.empty()) figures += "; ";
      if (results.size() > 1) figures += result.finding.kernel + " ";
      if (!result.failure.empty()) {
        figures += "failed: " + result.reason;
        continue;
      }
      std::string list;
      for (const std::string& name : study_.figures) {
        const auto found = result.finding.figures.find(name);
        if (found == result.finding.figures.end()) continue;
        const std::string_view unit = find_figure(name)->unit;
        list += fmt::format("{}{} {}{}{}", list.empty() ? "" : ", ", name,
                            three_digits(found->second), unit.empty() ? "" : " ", unit);
      }
      figures += list.empty() ? "no figure" : list;
    }
    const auto left = std::ranges::count_if(records_, [](const auto& r) { return !r; });
    double seconds_left = watch_.seconds() / static_cast<double>(ran_) * static_cast<double>(left);
    if (study_.total > 0)
      seconds_left = std::clamp(study_.total - watch_.seconds(), 0.0, seconds_left);
    return fmt::format(
        "{} {}: {}; took {}{}\n", number_of(i), runs_[i].name, figures,
        words::seconds(records_[i]->ended.seconds),
        left == 0 ? "" : fmt::format("; about {} left", words::seconds(seconds_left)));
  }

  ExitCode finish(StopSignals& stop) {
    std::vector<Result> results;
    std::size_t done = 0, failed = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto of_run = results_of(study_, runs_[i], records_[i]);
      done += records_[i] ? 1 : 0;
      failed += records_[i] && std::ranges::any_of(
                                   of_run, [](const Result& r) { return !r.failure.empty(); })
                    ? 1
                    : 0;
      results.insert(results.end(), of_run.begin(), of_run.end());
    }
    Summary summary = summarise(study_, results);
    summary.runs = runs_.size();
    summary.done = done;
    summary.failed = failed;
    write_file(folder_ / "runs.csv", csv_of_runs(results));
    write_file(folder_ / "summary.json", json_summary(summary));
    write_file(folder_ / "summary.md", markdown_summary(summary));
    write_file(folder_ / "summary.html", html_summary(summary));
    stop.count();
    say(terminal_summary(summary));
    const std::string end = fmt::format(
        "{} of {} runs done, {} failed; {}summary.md, summary.html, summary.json and runs.csv in "
        "{}",
        done, runs_.size(), failed, stopped_ ? why_ + ", and the same command goes on; " : "",
        study_.directory.string());
    say("\n" + words::wrap(end, words::kTextWidth, 2) + "\n");
    return done == runs_.size() && failed == 0 ? ExitCode::converged : ExitCode::not_converged;
  }

  const Study& study_;
  const RunStudyOptions& options_;
  std::FILE* out_;
  const fs::path folder_;
  std::vector<StudyRun> runs_;
  std::vector<std::optional<Record>> records_;  // one per run
  std::vector<fs::path> folders_;               // one per run; empty: it has none yet
  std::set<fs::path> taken_;
  Stopwatch watch_;
  std::size_t ran_ = 0;
  bool stopped_ = false;
  std::string why_;
};

}  // namespace

ExitCode run_study(const Study& study, const RunStudyOptions& options, std::FILE* out) {
  return StudyRunner(study, options, out).run();
}

std::string list_runs(const Study& study, const fs::path& program) {
  std::string text;
  for (const StudyRun& run : expand(study, no_case_in(study))) {
    text += run.name + ":";
    const auto words = command_of(study, run, program, study.directory / "runs" / run.name);
    for (const std::string& word : words) text += " " + word;
    text += "\n";
  }
  return text;
}

}  // namespace trireme::study
