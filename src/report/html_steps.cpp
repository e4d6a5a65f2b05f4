// SPDX-License-Identifier: BSD-3-Clause
// The steps of a sequence: two charts and a table that folds.
#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::html {
namespace {

using svg::escape;

std::string changes(const StepOutcome& step) {
  std::string text = step.new_values ? "values" : "";
  const auto add = [&](bool applies, const char* word) {
    if (applies) text += std::string(text.empty() ? "" : ", ") + word;
  };
  add(step.rebuilt, "built anew");
  add(step.renewed, "preconditioner");
  add(step.new_aggregates, "aggregates");
  return text.empty() ? "b" : text;
}

std::string table_of(const RunOutcome& run) {
  Table table("steps of " + escape(label(run)),
              {"step", "new", "guess", "‖b−Ax₀‖ / ‖b‖", "iterations", "‖b−Ax‖ / ‖b‖", "read",
               "renew", "solve", "converged"},
              {1, 2});
  for (const StepOutcome& s : run.steps)
    table.row({escape(s.name), changes(s), escape(s.guess), words::residual(s.guess_residual),
               std::to_string(s.iterations), words::residual(s.relative_residual),
               words::seconds(s.read_seconds), words::seconds(s.renew_seconds),
               words::seconds(s.solve_seconds), s.converged ? "✓" : "✗ no"});
  return table.str();
}

}  // namespace

std::string steps(const CaseOutcome& outcome) {
  std::string content;
  for (const RunOutcome& run : outcome.runs) {
    if (run.steps.empty()) continue;
    content += grid({figure(escape(label(run)) + ": iterations", svg::step_iterations(run),
                            "Ring: the preconditioner was renewed."),
                     figure(escape(label(run)) + ": seconds", svg::step_seconds(run), "",
                            legend(svg::step_seconds(run).series))});
    content +=
        fold(fmt::format("{} steps of {}", run.steps.size(), escape(label(run))), table_of(run));
  }
  return section("steps", "Steps", content);
}

}  // namespace trireme::html
