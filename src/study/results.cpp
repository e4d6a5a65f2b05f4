// SPDX-License-Identifier: BSD-3-Clause
// How a run ended, in words, and which of its figures count.
#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/error.hpp"
#include "report/words.hpp"
#include "study/summary.hpp"

namespace trireme::study {
namespace {

struct Verdict {
  std::string failure, reason;
};

Verdict by_signal(int number) {
  const char* name = sigdescr_np(number);
  const char* hint = number == SIGKILL ? ", perhaps for lack of memory" : "";
  return {fmt::format("signal {}", number),
          fmt::format("signal {} ({}{})", number, name ? name : "unknown", hint)};
}

Verdict verdict_of(const Study& study, const StudyRun& run, const Record& record) {
  const Ended& ended = record.ended;
  switch (ended.how) {
    case End::time:
      return {"time", fmt::format("time limit of {}", words::seconds(study.limit))};
    case End::memory:
      return {"memory", fmt::format("memory limit of {}", words::bytes(study.memory))};
    case End::signalled:
      return by_signal(ended.signal);
    case End::not_started:
      return {"not started", "not started: " + record.error};
    case End::interrupted:
      return {"not run", "stopped by a signal"};
    case End::exited:
      break;
  }
  // mpirun and shells return 128 and the number of the signal that ended a process.
  constexpr int signals = 128;
  if (run.ranks > 1 && ended.exit_code > signals && ended.exit_code < signals + 65)
    return by_signal(ended.exit_code - signals);
  if (std::ranges::find(study.accept, ended.exit_code) != study.accept.end()) return {};
  return {fmt::format("exit {}", ended.exit_code),
          fmt::format("exit code {}{}{}", ended.exit_code, record.error.empty() ? "" : ": ",
                      record.error)};
}

void name_kernel(Value& settings, const char* key, const std::string& text) {
  const auto same = std::ranges::find(settings, key, &Setting::key);
  if (same == settings.end())
    settings.push_back({key, text, text, ""});
  else
    same->text = same->yaml = text;
}

}  // namespace

std::vector<Result> results_of(const Study& study, const StudyRun& run,
                               const std::optional<Record>& record) {
  Result result;
  result.settings = run.settings;
  result.repetition = run.repetition;
  result.record = record;
  if (!record) {
    result.failure = "not run";
    return {result};
  }
  const Verdict verdict = verdict_of(study, run, *record);
  const auto findings = read_findings(record->folder / "report.json", record->ended.seconds,
                                      record->ended.peak_memory);
  const bool ended_itself = record->ended.how == End::exited;
  if (!ended_itself || findings.empty()) {
    result.failure = verdict.failure.empty() ? "no report" : verdict.failure;
    result.reason = verdict.failure.empty() ? "it left no report" : verdict.reason;
    return {result};
  }
  std::vector<Result> results;
  for (const Finding& finding : findings) {
    Result one = result;
    one.finding = finding;
    if (findings.size() > 1) {
      name_kernel(one.settings, "kernel", finding.kernel);
      name_kernel(one.settings, "precision", finding.precision);
    }
    if (std::ranges::find(study.accept, finding.exit_code) == study.accept.end()) {
      one.failure = fmt::format("exit {}", finding.exit_code);
      one.reason = fmt::format("exit code {}: {}", finding.exit_code, finding.reason);
    }
    results.push_back(std::move(one));
  }
  return results;
}

}  // namespace trireme::study
