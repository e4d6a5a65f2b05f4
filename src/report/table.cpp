// SPDX-License-Identifier: BSD-3-Clause
// The terminal table: at most 100 columns.
#include <fmt/format.h>

#include <algorithm>

#include "report/account_words.hpp"
#include "report/choice_words.hpp"
#include "report/distribution_words.hpp"
#include "report/multigrid_words.hpp"
#include "report/report.hpp"
#include "report/run_columns.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

constexpr std::size_t kLongestName = 18;

std::string short_name(const std::string& kernel) {
  return kernel.size() <= kLongestName ? kernel : kernel.substr(0, kLongestName - 1) + "~";
}

// One line of the table: the name, and what each column of the terminal has.
template <class Cell>
std::string line(const std::string& name, std::size_t name_width, const Cell& cell) {
  std::string text = fmt::format("{:<{}}", name, name_width);
  for (const RunColumn& column : run_columns())
    if (column.width > 0) text += fmt::format(" {:>{}}", cell(column), column.width);
  return text + "\n";
}

// "albus: converged: ...; break-even; notes", wrapped.
std::string verdict(const CaseOutcome& outcome, const RunOutcome& run) {
  std::string text = fmt::format("{}: {}", label(run), run.reason);
  if (!words::one_method(outcome)) text += fmt::format("; {}", words::method(run));
  if (run.relative_error) text += fmt::format("; error {:.1e}", *run.relative_error);
  if (const auto paid = words::break_even(run); !paid.empty()) text += "; " + paid;
  if (!run.deterministic) text += "; its sums are not the same bits from run to run";
  for (const std::string& note : words::own_notes(outcome, run)) text += "; " + note;
  return words::wrap(text, words::kTextWidth, 2) + "\n";
}

// The table of levels and what is said about them. Empty without multigrid.
std::string levels(const CaseOutcome& outcome, const RunOutcome& run) {
  if (!run.multigrid) return "";
  const std::string whose = outcome.runs.size() > 1 ? label(run) + ": " : "";
  return words::wrap(whose + words::hierarchy(run), words::kTextWidth, 2) + "\n" +
         words::level_table(run) + "  " +
         words::wrap(words::set_up(*run.multigrid), words::kTextWidth - 2, 2) + "\n";
}

}  // namespace

std::string terminal_table(const CaseOutcome& outcome) {
  std::string text = words::wrap(words::problem(outcome.problem), words::kTextWidth, 2) + "\n" +
                     words::wrap(words::machine(outcome.machine), words::kTextWidth, 2) + "\n";
  if (outcome.runs.empty()) return text;

  if (words::one_method(outcome)) text += words::method(outcome.runs.front()) + "\n";

  std::size_t name_width = std::string_view("kernel").size();
  for (const RunOutcome& run : outcome.runs)
    name_width = std::max(name_width, short_name(label(run)).size());
  text += "\n" + line("", name_width, [](const RunColumn& c) { return c.above; }) +
          line("kernel", name_width, [](const RunColumn& c) { return c.head; });
  for (const RunOutcome& run : outcome.runs)
    text += line(short_name(label(run)), name_width, [&](const RunColumn& column) {
      return column.number ? column.number(run) : column.text(run);
    });
  text += "\n";
  for (const RunOutcome& run : outcome.runs) text += verdict(outcome, run);
  for (const RunOutcome& run : outcome.runs) {
    if (run.ladder) text += words::wrap(words::ladder(*run.ladder), words::kTextWidth, 2) + "\n";
    if (run.preconditioner_choice)
      text += words::wrap(words::choice(*run.preconditioner_choice), words::kTextWidth, 2) + "\n";
    text += levels(outcome, run);
  }
  for (const std::string& line :
       {words::distribution(outcome), words::account_line(outcome), words::start(outcome.start)})
    if (!line.empty()) text += words::wrap(line, words::kTextWidth, 2) + "\n";
  for (const std::string& line : words::refused(outcome))
    text += words::wrap(line, words::kTextWidth, 2) + "\n";
  if (const auto left_out = words::not_run(outcome); !left_out.empty())
    text += words::wrap(left_out, words::kTextWidth, 2) + "\n";
  for (const std::string& note : words::common_notes(outcome))
    text += words::wrap("note: " + note, words::kTextWidth, 2) + "\n";
  return text;
}

}  // namespace trireme
