// SPDX-License-Identifier: BSD-3-Clause
// The tables of a summary for a page of documentation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/markdown_text.hpp"
#include "report/words.hpp"
#include "study/render.hpp"

namespace trireme::study {
namespace {

// The variant with the least figure, with its ratio to the baseline.
std::string best_of(const Summary& summary, const Row& row) {
  const Cell* best = nullptr;
  for (const Cell& cell : row.cells)
    if (cell.figure && (!best || *cell.figure < *best->figure)) best = &cell;
  if (!best) return "-";
  const auto& variant = summary.variants[static_cast<std::size_t>(best - row.cells.data())];
  return markdown::escape(variant) + (best->ratio ? ", " + ratio_text(*best->ratio) : "");
}

std::string mean_row(const Table& table, std::string_view name, double Mean::*member, bool counts) {
  std::string text = fmt::format("| {} | | |", name);
  for (const Mean& mean : table.means) {
    if (mean.count == 0)
      text += " - |";
    else if (counts)
      text += fmt::format(" {} ({}) |", ratio_text(mean.*member), mean.count);
    else
      text += fmt::format(" {} |", ratio_text(mean.*member));
  }
  return text;
}

std::string markdown_table(const Summary& summary, const Table& table) {
  const bool several = summary.variants.size() > 1;
  const auto size = [](std::int64_t number) {
    return number > 0 ? std::to_string(number) : std::string("-");
  };
  std::string text =
      fmt::format("{}:\n\n| problem | rows | nnz |", heading(*table.figure, summary.repeat));
  std::string dashes = "|---|--:|--:|";
  for (const std::string& variant : summary.variants) {
    text += fmt::format(" {} |", markdown::escape(variant));
    dashes += "--:|";
  }
  text += several ? " best |\n" + dashes + "---|\n" : "\n" + dashes + "\n";
  for (const Row& row : table.rows) {
    text +=
        fmt::format("| {} | {} | {} |", markdown::escape(row.label), size(row.rows), size(row.nnz));
    for (const Cell& cell : row.cells)
      text += fmt::format(
          " {} |", cell.figure ? three_digits(*cell.figure) : markdown::escape(cell.failure));
    text += several ? fmt::format(" {} |\n", best_of(summary, row)) : "\n";
  }
  if (several) {
    text += "| best on, of all problems | | |";
    for (const Mean& mean : table.means) text += fmt::format(" {} |", mean.best);
    text += " |\n| behind the best: 95 %, worst | | |";
    for (const Mean& mean : table.means)
      text += fmt::format(" {}, {} |", words::percent(mean.behind_p95),
                          words::percent(mean.behind_worst));
    text += " |\n";
  }
  if (!summary.baseline.empty()) {
    const char* end = several ? " |\n" : "\n";
    text += mean_row(table, fmt::format("geometric mean of {} (problems)", ratio_words(summary)),
                     &Mean::geometric, true) +
            end;
    text += mean_row(table, "smallest ratio", &Mean::least, false) + end;
    text += mean_row(table, "largest ratio", &Mean::greatest, false) + end;
  }
  return text;
}

}  // namespace

std::string markdown_summary(const Summary& summary) {
  std::string text;
  for (const Table& table : summary.tables) {
    if (!text.empty()) text += '\n';
    text += markdown_table(summary, table);
  }
  if (!summary.failures.empty()) text += "\nWhat failed:\n\n";
  for (const Failure& failure : summary.failures)
    text += fmt::format("- {}: {}: {}\n", markdown::escape(failure.variant),
                        markdown::escape(failure.reason),
                        markdown::escape(fmt::format("{}", fmt::join(failure.rows, ", "))));
  return text;
}

}  // namespace trireme::study
