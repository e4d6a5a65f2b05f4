// SPDX-License-Identifier: BSD-3-Clause
// Kernels side by side: figures, curves, and where the time went.
#include <fmt/format.h>

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

std::vector<std::string> names(const CaseOutcome& outcome) {
  std::vector<std::string> names;
  for (const RunOutcome& run : outcome.runs) names.push_back(label(run));
  return names;
}

// The numbers of the parts of a bar, with their names.
std::string parts_legend(const std::vector<words::Part>& parts) {
  std::string items;
  for (std::size_t p = 0; p < parts.size(); ++p)
    items += fmt::format("<li><b class=\"p{}\">{}</b>{}</li>\n", p, p + 1, parts[p].first);
  return "<ul class=\"legend\">\n" + items + "</ul>\n";
}

std::string roof_note(const MachineDescription& machine) {
  return machine.best_gbytes_per_s > 0 || machine.gpu_gbytes_per_s > 0
             ? "Each kernel's product under the measured memory bandwidth."
             : "No roof: the bandwidth of memory is measured for larger matrices only.";
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
      grid({figure("Convergence", svg::convergence(outcome),
                   "Curve: the method's own residual. Ring: the true residual, recomputed."),
            figure("Time of each product", svg::product_times(outcome),
                   "On the slowest rank, with the wait for the halo."),
            figure("How the times are distributed", svg::product_distribution(outcome)),
            outcome.runs.empty()
                ? ""
                : figure("Roofline", svg::roofline(outcome), roof_note(outcome.machine))});
  return section("curves", "Curves", figures.empty() ? "" : legend(names(outcome)) + figures);
}

std::string times(const CaseOutcome& outcome) {
  std::vector<std::string> heads = {"kernel"};
  for (const words::Part& part : words::parts(Seconds())) heads.emplace_back(part.first);
  for (const char* head : {"one iteration", "products", "layout", "peak memory<br>of a rank"})
    heads.emplace_back(head);
  Table table("seconds of each part, of the slowest rank", std::move(heads));
  std::vector<svg::BarRow> rows;
  for (const RunOutcome& run : outcome.runs) {
    rows.push_back({label(run), words::parts(run.seconds)});
    std::vector<std::string> cells = {escape(label(run))};
    for (const auto& [name, seconds] : rows.back().parts) cells.push_back(words::seconds(seconds));
    cells.insert(
        cells.end(),
        {words::seconds(run.iteration_us * 1e-6), std::to_string(run.kernel_us.count),
         words::bytes(static_cast<double>(run.bytes)),
         fmt::format("{} ({:.2f} x CSR)", words::bytes(static_cast<double>(run.peak_memory)),
                     run.peak_memory_over_csr)});
    table.row(cells);
  }
  const svg::BarRow start{"from the start to the first iteration", words::parts(outcome.start)};
  std::string content = grid(
      {figure("Each run", svg::bars("times", "Where the time went", rows),
              rows.empty() ? "" : parts_legend(rows.front().parts)),
       figure("The start", svg::bars("start", "From the start to the first iteration", {start}),
              parts_legend(start.parts))});
  return section("times", "Where the time went", content + table.str());
}

}  // namespace trireme::html
