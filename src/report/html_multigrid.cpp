// SPDX-License-Identifier: BSD-3-Clause
// The levels of multigrid: a table, and where the time of the set-up went.
#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/multigrid_words.hpp"
#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"

namespace trireme::html {

std::string multigrid(const CaseOutcome& outcome) {
  using svg::escape;
  std::string content;
  for (const RunOutcome& run : outcome.runs) {
    if (!run.multigrid) continue;
    content += fmt::format("<p>{}; {}</p>\n", escape(words::hierarchy(run)),
                           escape(words::set_up(*run.multigrid)));
    Table table("levels of " + escape(label(run)),
                {words::kLevelHeads.begin(), words::kLevelHeads.end()}, {3, 5});
    for (std::size_t k = 0; k < run.multigrid->levels.size(); ++k) {
      const auto cells = words::level_cells(run, k);
      std::vector<std::string> escaped;
      for (const std::string& cell : cells) escaped.push_back(escape(cell));
      table.row(escaped);
    }
    content += table.str();
  }
  return section("multigrid", "Multigrid", content);
}

}  // namespace trireme::html
