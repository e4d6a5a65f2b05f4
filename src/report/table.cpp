// SPDX-License-Identifier: BSD-3-Clause
// What the terminal shows of an outcome: the table of runs, and below it lines with one fact each.
#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_table.hpp"
#include "report/account_words.hpp"
#include "report/choice_words.hpp"
#include "report/console.hpp"
#include "report/distribution_words.hpp"
#include "report/multigrid_words.hpp"
#include "report/report.hpp"
#include "report/run_columns.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

constexpr std::size_t kLongestName = 18;
constexpr std::size_t kHeadLines = 2;
constexpr std::size_t kLongestFact = 140;  // characters, two to three lines

std::string short_name(const std::string& kernel) {
  return kernel.size() <= kLongestName ? kernel : kernel.substr(0, kLongestName - 1) + "~";
}

std::string without(std::string_view prefix, const std::string& text) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

void add_table(ConsoleText& text, const CaseOutcome& outcome) {
  std::vector<TextColumn> columns = {{.cells = {"", "kernel"}, .left = true}};
  for (const RunOutcome& run : outcome.runs) columns[0].cells.push_back(short_name(label(run)));
  for (const RunColumn& column : run_columns()) {
    if (!column.head) continue;
    TextColumn shown{.cells = {column.above, column.head}, .goes = column.goes};
    for (const RunOutcome& run : outcome.runs)
      shown.cells.push_back(column.number ? column.number(run) : column.text(run));
    const bool has_figures = std::any_of(shown.cells.begin() + kHeadLines, shown.cells.end(),
                                         [](const std::string& cell) { return cell != "-"; });
    if (has_figures) columns.push_back(std::move(shown));
  }
  const std::vector<std::string> lines = table_lines(std::move(columns), text.width());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < kHeadLines)
      text.line(lines[i], Emphasis::head);
    else
      text.line(lines[i]);
  }
}

// Lines that end with "..." have more in the reports.
class Facts {
 public:
  Facts(ConsoleText& text, const CaseOutcome& outcome) : text_(text), outcome_(outcome) {}

  void of_run(const RunOutcome& run) {
    text_.verdict(label(run), run.reason,
                  run.exit_code == ExitCode::converged ? Emphasis::good : Emphasis::bad);
    if (!words::one_method(outcome_)) text_.fact_of_run("method", words::method(run));
    if (run.ladder) {
      std::string_view what = "method";
      for (const std::string& rung : words::rungs(*run.ladder))
        text_.fact_of_run(std::exchange(what, ""), rung);
    }
    if (run.preconditioner_choice)
      text_.fact_of_run("preconditioner", brief(words::chosen(*run.preconditioner_choice)));
    if (run.relative_error) text_.fact_of_run("error", words::residual(*run.relative_error));
    text_.fact_of_run("preparation", words::preparation(run));
    if (!run.deterministic) text_.fact_of_run("bits", "its sums differ from run to run");
    for (const std::string& note : words::own_notes(outcome_, run))
      text_.fact_of_run("note", brief(note));
    if (!run.multigrid) return;
    text_.fact_of_run("multigrid", without("multigrid: ", words::hierarchy(run)));
    text_.fact_of_run("set-up", brief(without("its set-up took ", words::set_up(*run.multigrid))));
    for (const std::string& line : words::level_table(run, text_.width())) text_.line(line);
  }

  void of_case() {
    text_.fact("distribution", brief(without("distribution: ", words::distribution(outcome_))));
    for (const auto& [what, text] : words::account_facts(outcome_)) text_.fact(what, brief(text));
    text_.fact("first iteration", without("first iteration ", words::start(outcome_.start)));
    for (const std::string& line : words::refused(outcome_)) text_.paragraph(line);
    if (const auto left_out = words::not_run(outcome_); !left_out.empty())
      text_.paragraph(left_out);
    for (const std::string& note : words::common_notes(outcome_)) text_.fact("note", brief(note));
    if (cut_) text_.line("The reports have in full what ends with ... here.");
  }

 private:
  std::string brief(const std::string& text) {
    cut_ = cut_ || text.size() > kLongestFact;
    return shortened(text, kLongestFact);
  }

  ConsoleText& text_;
  const CaseOutcome& outcome_;
  bool cut_ = false;
};

std::vector<const RunOutcome*> longest_first(const CaseOutcome& outcome) {
  std::vector<const RunOutcome*> runs;
  for (const RunOutcome& run : outcome.runs) runs.push_back(&run);
  std::ranges::stable_sort(runs, std::greater(),
                           [](const RunOutcome* run) { return run->seconds.solve; });
  return runs;
}

}  // namespace

std::string terminal_table(const CaseOutcome& outcome, Console console) {
  ConsoleText text(console);
  text.paragraph(words::problem(outcome.problem));
  text.paragraph(words::machine(outcome.machine));
  if (outcome.runs.empty()) return text.text();
  if (words::one_method(outcome)) text.paragraph(words::method(outcome.runs.front()));
  text.blank();
  add_table(text, outcome);
  text.blank();
  Facts facts(text, outcome);
  for (const RunOutcome* run : longest_first(outcome)) facts.of_run(*run);
  text.blank();
  facts.of_case();
  return text.text();
}

}  // namespace trireme
