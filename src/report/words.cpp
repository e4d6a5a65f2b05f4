// SPDX-License-Identifier: BSD-3-Clause
// Three significant digits, SI prefixes, plain sentences.
#include "report/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace trireme::words {
namespace {

// Three significant digits without an exponent, for 1 <= number < 1000.
std::string three_digits(double number) {
  return fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

std::string plural(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// "0 to 3, 8"; more than kMost runs of consecutive numbers are cut short.
std::string ranks_in_words(const std::vector<int>& ranks) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> runs;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    runs.push_back(first == last ? fmt::format("{}", ranks[first])
                                 : fmt::format("{} to {}", ranks[first], ranks[last]));
    first = last + 1;
  }
  const bool all = runs.size() <= kMost;
  if (!all) runs.resize(kMost);
  return fmt::format("{}{}", fmt::join(runs, ", "), all ? "" : ", ...");
}

// " on 2 nodes (node1: ranks 0 to 3; node2: ranks 4 to 7)"; empty for one node.
std::string nodes_in_words(const std::vector<NodeDescription>& nodes) {
  constexpr std::size_t kMost = 4;
  if (nodes.size() < 2) return "";
  std::vector<std::string> named;
  for (const NodeDescription& node : nodes) {
    if (named.size() == kMost) break;
    named.push_back(fmt::format("{}: rank{} {}", node.host, node.ranks.size() == 1 ? "" : "s",
                                ranks_in_words(node.ranks)));
  }
  if (nodes.size() > kMost) named.push_back(fmt::format("and {} more", nodes.size() - kMost));
  return fmt::format(" on {} nodes ({})", nodes.size(), fmt::join(named, "; "));
}

bool prepares(const RunOutcome& run) {
  return !run.baseline.empty() && label(run) != run.baseline && run.kernel_us.count > 0;
}

std::string ahead(const RunOutcome& run) {
  return fmt::format("ahead of {} from the first product", run.baseline);
}

std::string never_pays(const RunOutcome& run) {
  return fmt::format("never pays: its product is no faster than {}'s", run.baseline);
}

std::string paid_back(const RunOutcome& run) {
  return fmt::format("paid back after {} (this run did {})",
                     plural(*run.break_even_products, "product"), run.kernel_us.count);
}

}  // namespace

std::string count(std::int64_t number) {
  if (number < 10000) return fmt::format("{}", number);
  double scaled = static_cast<double>(number);
  const char* prefix = "";
  for (const char* next : {"k", "M", "G", "T"}) {
    if (scaled < 999.5) break;
    scaled /= 1000;
    prefix = next;
  }
  return fmt::format("{} {}", three_digits(scaled), prefix);
}

std::string bytes(double number) {
  if (number < 1000) return fmt::format("{:.0f} B", number);
  const char* unit = "B";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (number < 999.5) break;
    number /= 1000;
    unit = next;
  }
  return fmt::format("{} {}", three_digits(number), unit);
}

std::string seconds(double number) {
  if (!std::isfinite(number)) return "nan";
  if (number == 0) return "0";
  if (number < 1e-6) return fmt::format("{:.0f} ns", number * 1e9);
  if (number < 1e-3) return fmt::format("{} us", three_digits(number * 1e6));
  if (number < 1) return fmt::format("{} ms", three_digits(number * 1e3));
  if (number < 120) return fmt::format("{} s", three_digits(number));
  const auto whole = static_cast<std::int64_t>(std::round(number));
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string percent(double fraction) { return fmt::format("{:.0f} %", fraction * 100); }

std::string residual(double number) { return fmt::format("{:.1e}", number); }

std::string fixed(double number, int digits) {
  return std::isfinite(number) ? fmt::format("{:.{}f}", number, digits) : "nan";
}

std::string problem(const ProblemDescription& p) {
  const std::string text =
      fmt::format("{}: {} x {}, {} nonzeros, {}", p.name, p.rows, p.cols, count(p.nnz), vectors(p));
  return p.looks.empty() ? text : fmt::format("{}; A is {}", text, p.looks);
}

std::string vectors(const ProblemDescription& p) {
  std::string text = "b: " + p.rhs;
  if (!p.rhs_note.empty()) text += fmt::format(" ({})", p.rhs_note);
  return p.x0.empty() ? text : fmt::format("{}, x0: {}", text, p.x0);
}

std::string machine(const MachineDescription& m) {
  std::string text = fmt::format("{}: {}", m.host, m.cpu);
  if (!m.simd.empty()) text += fmt::format(" ({})", m.simd);
  if (!m.gpu.empty()) text += fmt::format(", {}", m.gpu);
  text += fmt::format(", {} of {}", plural(m.ranks, "rank"), plural(m.threads_per_rank, "thread"));
  text += nodes_in_words(m.nodes);
  if (m.triad_gbytes_per_s > 0)
    text += fmt::format(", memory {:.1f} GB/s (triad)", m.triad_gbytes_per_s);
  return text;
}

std::string citation(const CaseOutcome& outcome) {
  const MachineDescription& m = outcome.machine;
  std::string text = "The Trireme authors: Trireme " + m.trireme;
  if (!m.commit.empty()) text += fmt::format(" (commit {})", m.commit);
  const auto add = [&](const char* before, const std::string& version) {
    if (!version.empty()) text += before + version;
  };
  add(", built by ", m.compiler);
  if (!m.gpu.empty()) add(" and CUDA ", m.cuda);
  add(", with PETSc ", m.petsc);
  add(", HDF5 ", m.hdf5);
  add(", ", m.mpi);
  text += "; run";
  add(" on ", outcome.date.substr(0, outcome.date.find('T')));
  text += fmt::format(" on {} of {}", plural(m.ranks, "rank"), m.cpu);
  add(" with ", m.gpu);
  if (!m.gpu.empty()) add(", driver ", m.driver);
  return text;
}

std::string method(const RunOutcome& run) {
  return fmt::format("{} + {} to {:g}, {} engine, {}, {}", run.method, run.preconditioner, run.rtol,
                     to_string(run.engine), to_string(run.precision), to_string(run.device));
}

std::vector<std::string> labels(const CaseOutcome& outcome) {
  std::vector<std::string> names;
  for (const RunOutcome& run : outcome.runs) names.push_back(label(run));
  return names;
}

bool one_method(const CaseOutcome& outcome) {
  return std::ranges::all_of(outcome.runs, [&](const RunOutcome& run) {
    return method(run) == method(outcome.runs.front());
  });
}

std::string break_even(const RunOutcome& run) {
  if (!prepares(run)) return "";
  if (run.break_even_products == 0) return ahead(run);
  return fmt::format("its {} of preprocessing {}", seconds(preprocessing_seconds(run)),
                     run.break_even_products ? "is " + paid_back(run) : never_pays(run));
}

std::string preparation(const RunOutcome& run) {
  if (!prepares(run)) return "";
  return fmt::format("{}, {}", seconds(preprocessing_seconds(run)),
                     !run.break_even_products       ? "which " + never_pays(run)
                     : run.break_even_products == 0 ? ahead(run)
                                                    : paid_back(run));
}

std::string not_run(const CaseOutcome& outcome) {
  if (outcome.not_run.empty()) return "";
  return fmt::format("not run after a signal: {}", fmt::join(outcome.not_run, ", "));
}

std::vector<std::string> refused(const CaseOutcome& outcome) {
  std::vector<std::string> lines;
  for (const RefusedRun& run : outcome.refused)
    lines.push_back(fmt::format("{} has no result: {}", run.kernel, run.reason));
  return lines;
}

std::vector<std::string> common_notes(const CaseOutcome& outcome) {
  std::vector<std::string> common;
  if (outcome.runs.size() < 2) return common;
  for (const std::string& note : outcome.runs.front().notes)
    if (std::ranges::all_of(outcome.runs, [&](const RunOutcome& run) {
          return std::ranges::find(run.notes, note) != run.notes.end();
        }))
      common.push_back(note);
  return common;
}

std::vector<std::string> own_notes(const CaseOutcome& outcome, const RunOutcome& run) {
  const auto common = common_notes(outcome);
  std::vector<std::string> own;
  for (const std::string& note : run.notes)
    if (std::ranges::find(common, note) == common.end()) own.push_back(note);
  return own;
}

double preprocessing_seconds(const RunOutcome& run) {
  return run.seconds.build + run.seconds.upload;
}

}  // namespace trireme::words
