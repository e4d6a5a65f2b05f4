// SPDX-License-Identifier: BSD-3-Clause
// How `preconditioner: auto` chose: every candidate.
#include <fmt/format.h>

#include "report/choice_words.hpp"
#include "report/html_parts.hpp"
#include "report/svg_frame.hpp"

namespace trireme::html {

std::string preconditioners(const CaseOutcome& outcome) {
  using svg::escape;
  std::string content;
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
  return section("preconditioners", "How the preconditioner was chosen", content);
}

}  // namespace trireme::html
