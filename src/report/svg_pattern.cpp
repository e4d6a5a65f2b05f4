// SPDX-License-Identifier: BSD-3-Clause
// The picture of the pattern and the histogram of row lengths.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::svg {
namespace {

constexpr int kLevels = 5;  // of darkness; the first one begins above zero
constexpr double kSide = 300;

// 1 .. kLevels on a logarithmic scale; 0: empty.
int level_of(std::int64_t count, std::int64_t most) {
  if (count <= 0) return 0;
  const double part =
      most > 1 ? std::log(static_cast<double>(count)) / std::log(static_cast<double>(most)) : 1;
  return std::clamp(static_cast<int>(std::ceil(part * kLevels)), 1, kLevels);
}

// "1", "2-3", "4-7", "64-127", "1.02 k-2.05 k"
std::string lengths_of(std::size_t bin) {
  if (bin == 0) return "0";
  const std::int64_t low = std::int64_t{1} << (bin - 1), high = 2 * low - 1;
  return low == high ? "1" : words::count(low) + "–" + words::count(high);
}

}  // namespace

Chart pattern(const CaseOutcome& outcome) {
  const PatternPicture& p = outcome.pattern;
  const auto cells = static_cast<std::size_t>(p.cells);
  if (cells == 0 || p.density.size() != cells * cells) return {};
  const std::int64_t most = *std::ranges::max_element(p.density);
  const auto empty = std::ranges::count(p.density, 0);
  const double cell = kSide / static_cast<double>(cells), left = (kWidth - kSide) / 2;
  Chart chart{.id = "pattern", .title = "Pattern of the matrix", .height = kSide + 2};
  chart.description = fmt::format(
      "{0} x {0} cells of {1} x {2} rows and columns; {3} of the cells are empty, the "
      "fullest one has {4} nonzeros.",
      cells, words::count(outcome.problem.rows / p.cells),
      words::count(outcome.problem.cols / p.cells),
      words::percent(static_cast<double>(empty) / static_cast<double>(p.density.size())),
      words::count(most));
  Csv csv("row_of_cells,column_of_cells,nonzeros");
  for (std::size_t i = 0; i < p.density.size(); ++i)
    if (p.density[i] > 0) csv.row(i / cells, i % cells, p.density[i]);
  chart.csv = csv.text();
  std::string& out = chart.content;
  out += fmt::format("<rect class=\"edge\" x=\"{}\" y=\"1\" width=\"{}\" height=\"{}\"/>\n", left,
                     kSide, kSide);
  // One path per level; neighbours in a row are one rectangle.
  std::array<std::string, kLevels + 1> paths;
  for (std::size_t i = 0; i < cells; ++i)
    for (std::size_t j = 0; j < cells;) {
      const int level = level_of(p.density[i * cells + j], most);
      std::size_t end = j + 1;
      while (end < cells && level_of(p.density[i * cells + end], most) == level) ++end;
      if (level > 0)
        fmt::format_to(std::back_inserter(paths[static_cast<std::size_t>(level)]),
                       "M{:.2f} {:.2f}h{:.2f}v{:.2f}h-{:.2f}z",
                       left + cell * static_cast<double>(j), 1 + cell * static_cast<double>(i),
                       cell * static_cast<double>(end - j), cell,
                       cell * static_cast<double>(end - j));
      j = end;
    }
  for (std::size_t level = 1; level < paths.size(); ++level)
    if (!paths[level].empty())
      out += fmt::format("<path class=\"cell d{}\" d=\"{}\"/>\n", level, paths[level]);
  return chart;
}

Chart row_lengths(const CaseOutcome& outcome) {
  const std::vector<std::int64_t>& rows = outcome.pattern.row_lengths;
  if (rows.empty()) return {};
  const auto first = static_cast<std::size_t>(
      std::ranges::find_if(rows, [](std::int64_t n) { return n > 0; }) - rows.begin());
  if (first == rows.size()) return {};
  std::string description;
  for (std::size_t bin = first; bin < rows.size(); ++bin)
    description += fmt::format("{} nonzeros: {} rows. ", lengths_of(bin), words::count(rows[bin]));
  const double most = static_cast<double>(*std::ranges::max_element(rows));
  constexpr double kRowPitch = 24, kBar = 16, kNames = 96, kCounts = 70;
  Chart chart{.id = "row-lengths",
              .title = "Rows by their number of nonzeros",
              .description = description,
              .height = kRowPitch * static_cast<double>(rows.size() - first) + 20};
  std::string& out = chart.content;
  Csv csv("nonzeros_per_row_from,nonzeros_per_row_to,rows");
  out += text("axis", kNames, 12, "start", "rows, by nonzeros per row");
  for (std::size_t bin = first; bin < rows.size(); ++bin) {
    const double top = 20 + kRowPitch * static_cast<double>(bin - first);
    const double width = (kWidth - kNames - kCounts) * static_cast<double>(rows[bin]) / most;
    out += text("name", kNames - 6, top + 12, "end", lengths_of(bin));
    out += fmt::format("<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>\n",
                       kNames, top, rows[bin] > 0 ? std::max(width, 1.0) : 0.0, kBar);
    out += text("name", kNames + width + 6, top + 12, "start", words::count(rows[bin]));
    const std::int64_t low = bin == 0 ? 0 : std::int64_t{1} << (bin - 1);
    csv.row(low, bin == 0 ? 0 : 2 * low - 1, rows[bin]);
  }
  chart.csv = csv.text();
  return chart;
}

}  // namespace trireme::svg
