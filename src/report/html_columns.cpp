// SPDX-License-Identifier: BSD-3-Clause
// The right-hand sides of a run that has several: a table that folds.
#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::html {

std::string columns(const CaseOutcome& outcome) {
  using svg::escape;
  std::string content;
  for (const RunOutcome& run : outcome.runs) {
    if (run.columns.empty()) continue;
    Table table("right-hand sides of " + escape(label(run)),
                {"right-hand side", "iterations", "‖b−Ax‖ / ‖b‖", "end"}, {3});
    for (std::size_t k = 0; k < run.columns.size(); ++k) {
      const ColumnOutcome& c = run.columns[k];
      table.row({std::to_string(k), std::to_string(c.iterations),
                 words::residual(c.relative_residual), escape(c.reason)});
    }
    content += fold(fmt::format("{} right-hand sides of {}, {} at once", run.columns.size(),
                                escape(label(run)), run.block),
                    table.str());
  }
  return section("columns", "Right-hand sides", content);
}

}  // namespace trireme::html
