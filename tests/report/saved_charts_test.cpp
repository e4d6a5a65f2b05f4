// SPDX-License-Identifier: BSD-3-Clause
// What a reader saves from the page: images that need no page, and the numbers of report.json.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "report/report.hpp"
#include "report/sample_outcome.hpp"
#include "report/svg_charts.hpp"

namespace trireme {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Lines without quotes.
Rows rows_of(const std::string& csv) {
  Rows rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The classes of each rule of the image.
std::vector<std::set<std::string>> rules_of(const std::string& image) {
  std::smatch style;
  if (!std::regex_search(image, style, std::regex("<style>([^<]*)</style>"))) return {};
  const std::string css = style[1];
  std::vector<std::set<std::string>> rules;
  const std::regex rule("([^{}\n]+) \\{"), name("\\.([a-z0-9]+)");
  for (std::sregex_iterator it(css.begin(), css.end(), rule), end; it != end; ++it) {
    const std::string selector = (*it)[1];
    rules.emplace_back();
    for (std::sregex_iterator n(selector.begin(), selector.end(), name); n != end; ++n)
      rules.back().insert((*n)[1]);
  }
  return rules;
}

const svg::Chart& chart_of(const std::vector<svg::Chart>& charts, const std::string& id) {
  for (const svg::Chart& chart : charts)
    if (chart.id == id) return chart;
  throw std::runtime_error("no chart " + id);
}

TEST(SavedCharts, NeedNothingOfThePage) {
  const auto charts = svg::charts(test::sample_outcome(), svg::Amount::drawn);
  EXPECT_GE(charts.size(), 11u);
  for (const svg::Chart& chart : charts) {
    std::string image = svg::file(chart);
    const std::string names = "<svg xmlns=\"http://www.w3.org/2000/svg\"";
    ASSERT_EQ(image.find(names), 0u);
    image.erase(0, names.size());
    for (const char* outside : {"http", "var(", "url(", "href", "@import", "currentColor"})
      EXPECT_EQ(image.find(outside), std::string::npos) << chart.id << ": " << outside;
    const auto rules = rules_of(image);
    EXPECT_TRUE(std::ranges::count(rules, std::set<std::string>{})) << "the font";
    const std::regex element("class=\"([^\"]*)\"");
    for (std::sregex_iterator it(image.begin(), image.end(), element), end; it != end; ++it) {
      const auto classes = words_of((*it)[1]);
      EXPECT_TRUE(std::ranges::any_of(rules,
                                      [&](const std::set<std::string>& rule) {
                                        return !rule.empty() &&
                                               std::ranges::includes(classes, rule);
                                      }))
          << chart.id << " has no rule for " << (*it)[0];
    }
    for (const std::string& series : chart.series)
      EXPECT_NE(image.find(">" + series + "</text>"), std::string::npos) << chart.id;
  }
}

TEST(SavedCharts, AreDrawnInEveryColourOfTheirSeries) {
  const std::string image =
      svg::file(chart_of(svg::charts(test::sample_outcome(), svg::Amount::drawn), "convergence"));
  for (const char* rule : {".curve.s0 { stroke: #0072b2; }", ".marker.s2 { stroke: #00805d; fill:",
                           ".curve.s1 { stroke: #d55e00; stroke-dasharray:"})
    EXPECT_NE(image.find(rule), std::string::npos) << rule << "\n" << image.substr(0, 3000);
}

TEST(SavedCharts, HaveTheNumbersOfTheReport) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs[2].history.assign(5000, 1.0 / 3);
  const auto report = nlohmann::json::parse(json_report(outcome));
  const auto charts = svg::charts(outcome, svg::Amount::all);
  Rows expected = {{"kernel", "residual", "iteration", "relative_residual"}};
  for (std::size_t r = 0; r < 3; ++r) {
    const auto& history = report["runs"][r]["history"];
    for (std::size_t i = 0; i < history.size(); ++i)
      expected.push_back({label(outcome.runs[r]), "method", std::to_string(i),
                          fmt::format("{}", history[i].get<double>())});
    expected.push_back({label(outcome.runs[r]), "true", std::to_string(history.size() - 1),
                        fmt::format("{}", report["runs"][r]["relative_residual"].get<double>())});
  }
  EXPECT_EQ(rows_of(chart_of(charts, "convergence").csv), expected);

  const Rows times = rows_of(chart_of(charts, "product-times").csv);
  ASSERT_EQ(times.size(), 1 + 3 * 313u);
  EXPECT_EQ(times[0], (std::vector<std::string>{"kernel", "product", "time_us"}));
  for (std::size_t i = 0; i < 313; ++i)
    EXPECT_EQ(std::stod(times[1 + 313 + i][2]), report["runs"][1]["product_us"][i]);

  const Rows parts = rows_of(chart_of(charts, "times").csv);
  EXPECT_EQ(parts[0], (std::vector<std::string>{"bar", "part", "seconds"}));
  const auto seconds = nlohmann::ordered_json::parse(json_report(outcome))["runs"][0]["seconds"];
  ASSERT_EQ(parts.size(), 1 + 3 * seconds.size());
  std::size_t part = 1;
  for (const auto& entry : seconds.items()) {
    EXPECT_EQ(parts[part][0], "csr");
    EXPECT_EQ(std::stod(parts[part++][2]), entry.value().get<double>()) << entry.key();
  }

  EXPECT_EQ(chart_of(charts, "step-iterations-auto-albus").csv,
            "step,name,iterations,renewed\n1,/A0,120,1\n2,/A1,90,0\n");
  EXPECT_EQ(chart_of(charts, "row-lengths").csv,
            "nonzeros_per_row_from,nonzeros_per_row_to,rows\n0,0,1\n1,1,0\n2,3,206762\n");
  EXPECT_EQ(rows_of(chart_of(charts, "pattern").csv).size(), 1 + 10u);
}

TEST(SavedCharts, QuoteNamesAndKeepTheirFilesInTheFolder) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs.resize(1);
  outcome.runs[0].kernel = "../a,\"b\"<\x01>";
  outcome.runs[0].steps = {test::sample_step("a", 1), test::sample_step("b,c", 2)};
  const auto charts = svg::charts(outcome, svg::Amount::all);
  const svg::Chart& steps = chart_of(charts, "step-iterations-.._a__b____");
  EXPECT_NE(steps.csv.find("\n2,\"b,c\",2,0\n"), std::string::npos) << steps.csv;
  const std::string image = svg::file(steps);
  EXPECT_NE(image.find(">../a,&quot;b&quot;&lt;?&gt;</text>"), std::string::npos) << image;
  EXPECT_NE(chart_of(charts, "convergence").csv.find("\n\"../a,\"\"b\"\"<"), std::string::npos);
}

std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%') {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  return out;
}

TEST(HtmlReport, SavesEachChartAsSvgAndCsv) {
  CaseOutcome outcome = test::sample_outcome();
  outcome.runs[0].kernel = "a\"'><script&#%";
  const std::string page = html_report(outcome);
  std::map<std::string, std::string> saved;
  const std::string begin = "<a download=\"";
  for (std::size_t at = 0; (at = page.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::string name = page.substr(at, page.find('"', at) - at);
    const std::string type = name.ends_with(".svg") ? "image/svg+xml" : "text/csv";
    const std::string link = name + "\" href=\"data:" + type + ";charset=utf-8,";
    ASSERT_EQ(page.compare(at, link.size(), link), 0) << page.substr(at, 100);
    at += link.size();
    const std::string data = page.substr(at, page.find('"', at) - at);
    EXPECT_TRUE(saved.emplace(name, decoded(data)).second) << name;
  }
  const auto charts = svg::charts(outcome, svg::Amount::drawn);
  EXPECT_EQ(saved.size(), 2 * charts.size());
  for (const svg::Chart& chart : charts) {
    EXPECT_EQ(saved[chart.id + ".svg"], svg::file(chart));
    EXPECT_EQ(saved[chart.id + ".csv"], chart.csv);
  }
}

}  // namespace
}  // namespace trireme
