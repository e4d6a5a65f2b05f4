// SPDX-License-Identifier: BSD-3-Clause
// The tables of a summary on a terminal: as many variants side by side as the text is wide.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/words.hpp"
#include "study/render.hpp"

namespace trireme::study {
namespace {

constexpr std::size_t kLongestLabel = 32;
constexpr std::size_t kNarrowest = 16;

std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "~";
}

std::string cell_text(const Cell& cell) {
  if (!cell.figure) return cell.failure;
  const std::string figure = three_digits(*cell.figure);
  return cell.ratio ? fmt::format("{} {:>7}", figure, ratio_text(*cell.ratio)) : figure;
}

struct Columns {
  std::size_t first, last, label, width;
};

std::string line(const Columns& columns, const std::string& name,
                 const std::vector<std::string>& cells) {
  std::string text = fmt::format("{:<{}}", cut(name, columns.label), columns.label);
  for (std::size_t v = columns.first; v < columns.last; ++v)
    text += fmt::format(" {:>{}}", cut(cells[v], columns.width), columns.width);
  return text + "\n";
}

template <class Item, class Text>
std::vector<std::string> texts(const std::vector<Item>& items, Text&& text) {
  std::vector<std::string> result;
  for (const Item& item : items) result.push_back(text(item));
  return result;
}

std::string mean_lines(const Table& table, const Columns& columns) {
  const auto of_mean = [&](double Mean::*member, bool with_count) {
    return texts(table.means, [&](const Mean& m) {
      if (m.count == 0) return std::string("-");
      return with_count ? fmt::format("{} of {}", ratio_text(m.*member), m.count)
                        : ratio_text(m.*member);
    });
  };
  std::string text;
  if (std::ranges::any_of(table.means, [](const Mean& m) { return m.count > 0; }))
    text += line(columns, "geometric mean", of_mean(&Mean::geometric, true)) +
            line(columns, "smallest ratio", of_mean(&Mean::least, false)) +
            line(columns, "largest ratio", of_mean(&Mean::greatest, false));
  const bool several = std::ranges::any_of(table.means, [](const Mean& m) { return m.best > 0; }) &&
                       table.means.size() > 1;
  if (several)
    text += line(columns, "best on",
                 texts(table.means, [](const Mean& m) { return std::to_string(m.best); })) +
            line(columns, "behind, 95 %",
                 texts(table.means, [](const Mean& m) { return words::percent(m.behind_p95); })) +
            line(columns, "behind, worst",
                 texts(table.means, [](const Mean& m) { return words::percent(m.behind_worst); }));
  if (std::ranges::any_of(table.means, [](const Mean& m) { return m.failed > 0; }))
    text += line(columns, "failed",
                 texts(table.means, [](const Mean& m) { return std::to_string(m.failed); }));
  return text;
}

std::string text_table(const Summary& summary, const Table& table) {
  std::size_t label = std::string_view("geometric mean").size(), width = kNarrowest;
  for (const Row& row : table.rows)
    label = std::max(label, std::min(row.label.size(), kLongestLabel));
  for (const std::string& variant : summary.variants) width = std::max(width, variant.size());
  width = std::min(width, words::kTextWidth - label - 1);
  const std::size_t per_block = std::max<std::size_t>(1, (words::kTextWidth - label) / (width + 1));

  std::string text = fmt::format(
      "\n{}{}\n", heading(*table.figure, summary.repeat),
      summary.baseline.empty() ? ""
                               : fmt::format("; ratio: the figure of {}", ratio_words(summary)));
  for (std::size_t first = 0; first < summary.variants.size(); first += per_block) {
    const Columns columns{first, std::min(first + per_block, summary.variants.size()), label,
                          width};
    text += '\n';
    text += line(columns, "", summary.variants);
    for (const Row& row : table.rows) text += line(columns, row.label, texts(row.cells, cell_text));
    text += mean_lines(table, columns);
  }
  return text;
}

}  // namespace

std::string three_digits(double number) {
  if (number != 0 && (std::abs(number) < 1e-4 || std::abs(number) >= 1e7))
    return fmt::format("{:.2e}", number);
  const int exponent = number == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(number))));
  return fmt::format("{:.{}f}", number, std::clamp(2 - exponent, 0, 6));
}

std::string ratio_text(double ratio) {
  return ratio < 99.95 ? fmt::format("{:.2f}x", ratio) : fmt::format("{:.0f}x", ratio);
}

std::string ratio_words(const Summary& summary) {
  return summary.speed_up_of_baseline ? "this one over that of " + summary.baseline
                                      : summary.baseline + " over this one";
}

std::string heading(const Figure& figure, std::int64_t repeat) {
  std::string text(figure.name);
  if (!figure.unit.empty()) text += fmt::format(", {}", figure.unit);
  if (repeat > 1) text += fmt::format(" (median of {} runs)", repeat);
  return text;
}

std::string terminal_summary(const Summary& summary) {
  std::string text;
  for (const Table& table : summary.tables) text += text_table(summary, table);
  if (!summary.failures.empty()) text += "\n";
  for (const Failure& failure : summary.failures)
    text += words::wrap(fmt::format("failed: {}: {}: {}", failure.variant, failure.reason,
                                    fmt::join(failure.rows, ", ")),
                        words::kTextWidth, 2) +
            "\n";
  return text;
}

}  // namespace trireme::study
