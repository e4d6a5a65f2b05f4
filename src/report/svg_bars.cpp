// SPDX-License-Identifier: BSD-3-Clause
// Stacked horizontal bars. A number stands in each part that is wide enough for it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/account_words.hpp"
#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::svg {
namespace {

constexpr double kPitch = 44, kBar = 20, kFirstBar = 18, kNumber = 14;

double sum_of(const BarRow& row) {
  double sum = 0;
  for (const auto& [name, seconds] : row.parts)
    if (std::isfinite(seconds)) sum += seconds;
  return sum;
}

}  // namespace

Chart bars(const std::string& id, const std::string& title, const std::vector<BarRow>& rows) {
  double longest = 0;
  std::string description;
  for (const BarRow& row : rows) {
    longest = std::max(longest, sum_of(row));
    description += row.name + ": ";
    for (const auto& [name, seconds] : row.parts)
      if (seconds > 0) description += fmt::format("{} {}, ", name, words::seconds(seconds));
    description += fmt::format("together {}. ", words::seconds(sum_of(row)));
  }
  if (longest <= 0) return {};
  Chart chart{.id = id,
              .title = title,
              .description = description,
              .height = kPitch * static_cast<double>(rows.size()) + 2};
  for (const auto& [name, seconds] : rows.front().parts) chart.parts.emplace_back(name);
  std::string& out = chart.content;
  Csv csv("bar,part,seconds");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double top = kPitch * static_cast<double>(r) + kFirstBar;
    out += text("name", 0, top - 5, "start", rows[r].name);
    out += text("name", kWidth, top - 5, "end", words::seconds(sum_of(rows[r])));
    double x = 0;
    for (std::size_t p = 0; p < rows[r].parts.size(); ++p) {
      const auto& [name, seconds] = rows[r].parts[p];
      csv.row(rows[r].name, name, seconds);
      if (!(seconds > 0) || !std::isfinite(seconds)) continue;
      const double width = kWidth * seconds / longest;
      out += fmt::format(
          "<rect class=\"part p{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"/>\n",
          p, x, top, width, kBar);
      if (width >= kNumber)
        out += text("number", x + width / 2, top + kBar - 6, "middle", std::to_string(p + 1));
      x += width;
    }
  }
  chart.csv = csv.text();
  return chart;
}

Chart run_seconds(const CaseOutcome& outcome) {
  std::vector<BarRow> rows;
  for (const RunOutcome& run : outcome.runs)
    rows.push_back({label(run), words::parts(run.seconds)});
  return bars("times", "Where the time went", rows);
}

Chart start_seconds(const CaseOutcome& outcome) {
  return bars("start", "From the start to the first iteration",
              {{"from the start to the first iteration", words::parts(outcome.start)}});
}

}  // namespace trireme::svg
