// SPDX-License-Identifier: BSD-3-Clause
// The verdict first: converged or not, the figures of the best run, one sentence per kernel.
#include <fmt/format.h>

#include "report/account_words.hpp"
#include "report/distribution_words.hpp"
#include "report/html_parts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::html {
namespace {

using svg::escape;

std::string tile(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, value);
}

// Of the converged runs the one that solved in the shortest time; null where none converged.
const RunOutcome* fastest(const CaseOutcome& outcome) {
  const RunOutcome* best = nullptr;
  for (const RunOutcome& run : outcome.runs)
    if (run.converged && (!best || run.seconds.solve < best->seconds.solve)) best = &run;
  return best;
}

// What a figure is of, where the run has several solves.
std::string of_all(const RunOutcome& run) {
  const bool steps = !run.steps.empty();
  const std::size_t solves = steps ? run.steps.size() : run.solve_seconds.size();
  return solves > 1 ? fmt::format(", all {} {}", solves, steps ? "steps" : "solves") : "";
}

std::string tiles(const CaseOutcome& outcome) {
  const RunOutcome* best = fastest(outcome);
  if (!best) return "";
  std::string out = "<dl class=\"tiles\">\n";
  out += tile(outcome.runs.size() > 1 ? "fastest solve" : "kernel", escape(label(*best)));
  const std::string all = of_all(*best);
  std::int64_t iterations = best->steps.empty() ? best->iterations : 0;
  for (const StepOutcome& step : best->steps) iterations += step.iterations;
  out += tile("solve" + all, words::seconds(best->seconds.solve));
  // Of solves that are repeated, a run keeps the iterations of the last one.
  out += tile(best->steps.empty() && !all.empty() ? "iterations of the last" : "iterations" + all,
              std::to_string(iterations));
  out += tile("one product", words::seconds(best->kernel_us.median * 1e-6));
  out += tile(all.empty() ? "true residual" : "worst true residual",
              words::residual(best->relative_residual));
  if (outcome.start.total > 0)
    out += tile("first iteration after", words::seconds(outcome.start.total));
  return out + "</dl>\n";
}

std::string verdict(const CaseOutcome& outcome, const RunOutcome& run) {
  std::string text =
      fmt::format("<li><b>{}</b> <span class=\"{}\">{} {}</span>", escape(label(run)),
                  run.converged ? "good" : "bad", run.converged ? "✓" : "✗", escape(run.reason));
  if (!words::one_method(outcome)) text += "; " + escape(words::method(run));
  if (const auto paid = words::break_even(run); !paid.empty()) text += "; " + escape(paid);
  if (!run.deterministic) text += "; its sums are not the same bits from run to run";
  for (const std::string& note : words::own_notes(outcome, run)) text += "; " + escape(note);
  return text + "</li>\n";
}

}  // namespace

std::string headline(const CaseOutcome& outcome) {
  const bool good = exit_code_of_solves(outcome) == ExitCode::converged;
  std::string out = fmt::format("<h1>Solve report: <span class=\"{}\">{}</span></h1>\n",
                                good ? "good" : "bad", good ? "✓ converged" : "✗ not converged");
  out += fmt::format("<p>{}</p>\n", escape(words::problem(outcome.problem)));
  if (!outcome.runs.empty() && words::one_method(outcome))
    out += fmt::format("<p class=\"dim\">{}</p>\n", escape(words::method(outcome.runs.front())));
  out += tiles(outcome);
  if (!outcome.runs.empty()) out += "<ul class=\"verdicts\">\n";
  for (const RunOutcome& run : outcome.runs) out += verdict(outcome, run);
  if (!outcome.runs.empty()) out += "</ul>\n";
  for (const std::string& line : words::refused(outcome))
    out += fmt::format("<p class=\"bad\">{}</p>\n", escape(line));
  if (const auto left_out = words::not_run(outcome); !left_out.empty())
    out += fmt::format("<p class=\"bad\">{}</p>\n", escape(left_out));
  for (const std::string& line :
       {words::distribution(outcome), words::account_line(outcome), words::start(outcome.start)})
    if (!line.empty()) out += fmt::format("<p>{}</p>\n", escape(line));
  for (const std::string& note : words::common_notes(outcome))
    out += fmt::format("<p class=\"dim\">note: {}</p>\n", escape(note));
  return out;
}

}  // namespace trireme::html
