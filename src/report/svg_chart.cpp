// SPDX-License-Identifier: BSD-3-Clause
// A file has above the chart what the page has beside it: the names of the series or of the parts.
#include "report/svg_chart.hpp"

#include "base/printable.hpp"
#include "report/svg_frame.hpp"
#include "report/svg_style.hpp"

namespace trireme::svg {
namespace {

constexpr double kLegendRow = 17, kSwatch = 34, kCharacter = 6.6, kBetweenItems = 16;

std::string named(const Chart& chart) {
  return fmt::format("<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-text\">{2}</desc>\n",
                     chart.id, escape(chart.title), escape(chart.description));
}

std::string attributes(const Chart& chart) {
  return fmt::format("role=\"img\" aria-labelledby=\"{0}-title {0}-text\"", chart.id);
}

struct Legend {
  std::string content;
  double height = 0;  // above the chart
};

class LegendRows {
 public:
  // Where the next item stands; `y` is its middle, below the top of the legend.
  struct Place {
    double x, y;
  };
  Place next(const std::string& name) {
    const double width = kSwatch + kCharacter * static_cast<double>(name.size());
    if (x_ > 0 && x_ + width > kWidth) {
      x_ = 0;
      ++rows_;
    }
    const Place place{x_, kLegendRow * rows_ - kLegendRow / 2};
    x_ += width + kBetweenItems;
    return place;
  }
  double height() const { return kLegendRow * rows_; }

 private:
  double x_ = 0, rows_ = 1;
};

Legend legend_of(const Chart& chart) {
  LegendRows rows;
  std::string content;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const auto [x, y] = rows.next(chart.series[s]);
    content += line(fmt::format("curve s{}", s % kSeries), x, y, x + kSwatch - 6, y);
    content += marker(s, x + (kSwatch - 6) / 2, y);
    content += text("name", x + kSwatch, y + 4, "start", chart.series[s]);
  }
  for (std::size_t p = 0; p < chart.parts.size(); ++p) {
    if (chart.content.find(fmt::format("part p{}\"", p)) == std::string::npos) continue;
    const auto [x, y] = rows.next(chart.parts[p]);
    content +=
        fmt::format("<rect class=\"p{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"26\" height=\"14\"/>\n",
                    p, x, y - 7);
    content += text("number", x + 13, y + 4, "middle", std::to_string(p + 1));
    content += text("name", x + kSwatch, y + 4, "start", chart.parts[p]);
  }
  if (content.empty()) return {};
  return {content, rows.height() + 6};
}

}  // namespace

std::string plain_name(std::string_view name) {
  constexpr std::string_view kOthers = "-._";
  std::string plain(name);
  for (char& c : plain) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!digit && !letter && kOthers.find(c) == std::string_view::npos) c = '_';
  }
  return plain;
}

std::string image(const Chart& chart) {
  if (chart.empty()) return "";
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" {}>\n{}{}</svg>\n", kWidth, chart.height,
                     attributes(chart), named(chart), chart.content);
}

std::string file(const Chart& chart) {
  if (chart.empty()) return "";
  constexpr double kMargin = 6;
  const Legend legend = legend_of(chart);
  const double width = kWidth + 2 * kMargin, height = chart.height + legend.height + 2 * kMargin;
  return printable(fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" {2}>\n{3}<style>\n{4}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n"
      "<g transform=\"translate({5} {5})\">\n{6}</g>\n"
      "<g transform=\"translate({5} {7:.0f})\">\n{8}</g>\n</svg>\n",
      width, height, attributes(chart), named(chart), paper_style(legend.content + chart.content),
      kMargin, legend.content, kMargin + legend.height, chart.content));
}

std::string Csv::quoted(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace trireme::svg
