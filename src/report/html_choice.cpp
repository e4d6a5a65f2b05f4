// SPDX-License-Identifier: BSD-3-Clause
// How `method: auto` and `preconditioner: auto` chose: every rung, every candidate.
#include <fmt/format.h>

#include "report/choice_words.hpp"
#include "report/html_parts.hpp"
#include "report/svg_frame.hpp"

namespace trireme::html {

std::string preconditioners(const CaseOutcome& outcome) {
  using svg::escape;
  std::string content;
  for (const RunOutcome& run : outcome.runs) {
    if (!run.ladder) continue;
    Table table("every rung of method: auto of " + escape(label(run)) + ": the matrix is " +
                    escape(run.ladder->seen),
                {words::kRungHeads.begin(), words::kRungHeads.end()}, {1, 2, 3, 7});
    for (const RungOutcome& r : run.ladder->rungs) {
      std::vector<std::string> escaped;
      for (const std::string& cell : words::cells(r)) escaped.push_back(escape(cell));
      if (r.solved) escaped[0] = fmt::format("<b>{} ✓</b>", escaped[0]);
      table.row(escaped);
    }
    content += table.str();
  }
  for (const RunOutcome& run : outcome.runs) {
    if (!run.preconditioner_choice) continue;
    Table table("every candidate of preconditioner: auto of " + escape(label(run)),
                {words::kChoiceHeads.begin(), words::kChoiceHeads.end()}, {1, 6});
    for (const PreconditionerCandidate& c : run.preconditioner_choice->candidates) {
      std::vector<std::string> escaped;
      for (const std::string& cell : words::cells(c)) escaped.push_back(escape(cell));
      if (c.chosen) escaped[0] = fmt::format("<b>{} ✓</b>", escaped[0]);
      table.row(escaped);
    }
    content += table.str();
  }
  return section("preconditioners", "How the method and the preconditioner were chosen", content);
}

}  // namespace trireme::html
