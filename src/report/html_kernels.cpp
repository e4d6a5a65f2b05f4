// SPDX-License-Identifier: BSD-3-Clause
// Kernels side by side: figures, curves, and where the time went.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/account_words.hpp"
#include "report/html_parts.hpp"
#include "report/run_columns.hpp"
#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::html {
namespace {

using svg::escape;

// Which solve the curves are of, where there are several.
std::string last_of(const CaseOutcome& outcome) {
  std::size_t solves = 0;
  for (const RunOutcome& run : outcome.runs) solves = std::max(solves, run.solve_seconds.size());
  return solves > 1 ? fmt::format(" The last of {} solves.", solves) : "";
}

std::string roof_note(const svg::Roof& roof) {
  return roof.of_small_arrays ? "Each kernel's product under the bandwidth of arrays that are as "
                                "large as the matrix."
         : roof.gbytes_per_s > 0 ? "Each kernel's product under the measured memory bandwidth."
                                 : "No roof: the bandwidth was not measured.";
}

}  // namespace

std::string kernels(const CaseOutcome& outcome) {
  Table table("one product and one solve of each kernel", run_heads(&RunColumn::html), {1});
  for (const RunOutcome& run : outcome.runs)
    table.row(run_cells(escape(label(run)), run, &RunColumn::html));
  return section("kernels", "Kernels side by side", table.str());
}

std::string curves(const CaseOutcome& outcome) {
  const std::string figures =
      grid({figure("Residual over iterations", svg::convergence(outcome),
                   "Curve: the method's own residual. Ring: the true residual, recomputed." +
                       last_of(outcome)),
            figure("Residual over seconds", svg::convergence_seconds(outcome),
                   "By the mean time of an iteration, without what comes before the first." +
                       last_of(outcome)),
            figure("Time of each product", svg::product_times(outcome),
                   "On the slowest rank, with the wait for the halo."),
            figure("How the times are distributed", svg::product_distribution(outcome)),
            outcome.runs.empty()
                ? ""
                : figure("Roofline", svg::roofline(outcome), roof_note(svg::roof_of(outcome)))});
  return section("curves", "Curves",
                 figures.empty() ? "" : legend(words::labels(outcome)) + figures);
}

std::string times(const CaseOutcome& outcome) {
  std::vector<std::string> heads = {"kernel"};
  for (const words::Part& part : words::parts(Seconds())) heads.emplace_back(part.first);
  for (const char* head : {"one iteration", "products", "layout", "peak memory<br>of a rank"})
    heads.emplace_back(head);
  Table table("seconds of each part, of the slowest rank", std::move(heads));
  for (const RunOutcome& run : outcome.runs) {
    std::vector<std::string> cells = {escape(label(run))};
    for (const auto& [name, seconds] : words::parts(run.seconds))
      cells.push_back(words::seconds(seconds));
    cells.insert(
        cells.end(),
        {words::seconds(run.iteration_us * 1e-6), std::to_string(run.kernel_us.count),
         words::bytes(static_cast<double>(run.bytes)),
         fmt::format("{} ({:.2f} x CSR)", words::bytes(static_cast<double>(run.peak_memory)),
                     run.peak_memory_over_csr)});
    table.row(cells);
  }
  const svg::Chart runs = svg::run_seconds(outcome), start = svg::start_seconds(outcome);
  const std::string content = grid({figure("Each run", runs, "", parts_legend(runs.parts)),
                                    figure("The start", start, "", parts_legend(start.parts))});
  return section("times", "Where the time went", content + table.str());
}

}  // namespace trireme::html
