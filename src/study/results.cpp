// SPDX-License-Identifier: BSD-3-Clause
// How a run ended, in words, and which of its figures count.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "report/report.hpp"
#include "report/words.hpp"
#include "study/product_words.hpp"
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

// The line of kernel_bench that begins with the name of a kernel says why it was left out.
std::string why_left_out(const Record& record, const std::string& kernel) {
  std::ifstream file(record.folder / "stdout");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kernel + ": ")) return one_line(line.substr(kernel.size() + 2));
  return "kernel_bench did not measure it";
}

// One result per kernel, measured or not.
std::vector<Result> results_of_products(const Study& study, const Result& run_result,
                                        const std::optional<Record>& record) {
  std::vector<Finding> findings;
  Verdict verdict{"not run", ""};
  if (record) {
    verdict = verdict_of(study, {}, *record);
    if (record->ended.how == End::exited)
      findings = read_product_findings(record->folder / kProductsFile, record->ended.seconds,
                                       record->ended.peak_memory);
  }
  std::vector<Result> results;
  const auto add = [&](const std::string& kernel) -> Result& {
    results.push_back(run_result);
    results.back().finding.kernel = kernel;
    name_kernel(results.back().settings, "kernel", kernel);
    return results.back();
  };
  for (const Finding& finding : findings) {
    Result& result = add(finding.kernel);
    result.finding = finding;
    if (finding.exit_code == 0) continue;
    result.failure = "wrong";
    result.reason = finding.reason;
  }
  for (const std::string& kernel : kernels_of(run_result.settings)) {
    if (std::ranges::find(findings, kernel, &Finding::kernel) != findings.end()) continue;
    Result& result = add(kernel);
    const bool others = !findings.empty() || verdict.failure.empty();
    result.failure = others ? "left out" : verdict.failure;
    result.reason = others ? why_left_out(*record, kernel) : verdict.reason;
  }
  return results;
}

}  // namespace

std::vector<Result> results_of(const Study& study, const StudyRun& run,
                               const std::optional<Record>& record) {
  Result result;
  result.settings = run.settings;
  result.repetition = run.repetition;
  result.record = record;
  if (study.measure == Measure::products) return results_of_products(study, result, record);
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
