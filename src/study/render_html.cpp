// SPDX-License-Identifier: BSD-3-Clause
// summary.html: how many runs are done, then per figure the means and the table, then what failed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "report/words.hpp"
#include "study/render.hpp"

namespace trireme::study {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --text: #1b2430; --dim: #5b6675; --line: #d9dee5;
  --good: #1a7f4b; --bad: #b3261e; --bar: #0b62c4; }
@media (prefers-color-scheme: dark) { :root { --back: #14181e; --text: #e4e9f0; --dim: #98a4b3;
  --line: #303945; --good: #5fd39b; --bad: #ff8a80; --bar: #6cb0ff; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  max-width: 1100px; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; } .dim { color: var(--dim); } .good { color: var(--good); }
.bad { color: var(--bad); } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { font-weight: 500; } thead th { color: var(--dim); vertical-align: bottom; }
tr > :first-child { text-align: left; } td.bars { min-width: 8rem; width: 16rem; text-align: left; }
.bar { display: block; height: .8em; background: var(--bar); }
td small { color: var(--dim); margin-left: .5em; }
@media print { body { max-width: none; margin: 0; } .scroll { overflow: visible; } }
)css";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string means(const Summary& summary, const Table& table) {
  if (summary.baseline.empty()) return "";
  double longest = 1;
  for (const Mean& mean : table.means) longest = std::max(longest, mean.geometric);
  std::string out = fmt::format(
      "<p class=\"dim\">Ratios are the figure of {}. "
      "A mean is over the problems on which both have a figure.</p>\n"
      "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">variant</th><th "
      "scope=\"col\">"
      "geometric mean</th><td></td><th scope=\"col\">problems</th><th scope=\"col\">smallest</th>"
      "<th scope=\"col\">largest</th><th scope=\"col\">best on</th><th scope=\"col\">behind the "
      "best,<br>95 % of problems</th><th scope=\"col\">worst</th><th "
      "scope=\"col\">failed</th></tr></thead><tbody>\n",
      escape(ratio_words(summary)));
  for (std::size_t v = 0; v < summary.variants.size(); ++v) {
    const Mean& mean = table.means[v];
    const auto ratio = [&](double number) { return mean.count > 0 ? ratio_text(number) : "-"; };
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"bars\"><span class=\"bar\" "
        "style=\"width: "
        "{:.1f}%\"></span></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td{}>{}</td></tr>\n",
        escape(summary.variants[v]), ratio(mean.geometric), 100 * mean.geometric / longest,
        mean.count, ratio(mean.least), ratio(mean.greatest), mean.best,
        words::percent(mean.behind_p95), words::percent(mean.behind_worst),
        mean.failed > 0 ? " class=\"bad\"" : "", mean.failed);
  }
  return out + "</tbody></table></div>\n";
}

std::string size_text(std::int64_t number) { return number > 0 ? std::to_string(number) : "-"; }

std::string cell_html(const Cell& cell) {
  if (!cell.figure) return fmt::format("<td class=\"bad\">{}</td>", escape(cell.failure));
  std::string text = three_digits(*cell.figure);
  if (cell.ratio) text += fmt::format("<small>{}</small>", ratio_text(*cell.ratio));
  const std::string title =
      cell.repetitions > 1
          ? fmt::format(" title=\"{} runs, spread {:.1f} %\"", cell.repetitions, 100 * cell.spread)
          : "";
  return fmt::format("<td{}>{}</td>", title, text);
}

std::string table_html(const Summary& summary, const Table& table) {
  std::string out =
      fmt::format("<h2>{}</h2>\n<p>{}</p>\n{}", escape(heading(*table.figure, summary.repeat)),
                  escape(table.figure->description), means(summary, table));
  out +=
      "<h3>Every problem</h3>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"
      "<th scope=\"col\">problem</th><th scope=\"col\">rows</th><th scope=\"col\">nnz</th>";
  for (const std::string& variant : summary.variants)
    out += fmt::format("<th scope=\"col\">{}</th>", escape(variant));
  out += "</tr></thead><tbody>\n";
  for (const Row& row : table.rows) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>", escape(row.label),
                       size_text(row.rows), size_text(row.nnz));
    for (const Cell& cell : row.cells) out += cell_html(cell);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string html_summary(const Summary& summary) {
  const bool good = summary.done == summary.runs && summary.failed == 0;
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Study: {0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>Study: {0}</h1>\n"
      "<p class=\"{2}\">{3} of {4} runs done, {5} failed</p>\n",
      escape(summary.name), kStyle, good ? "good" : "bad", summary.done, summary.runs,
      summary.failed);
  for (const Table& table : summary.tables) out += table_html(summary, table);
  if (!summary.failures.empty()) out += "<h2>What failed</h2>\n<ul>\n";
  for (const Failure& failure : summary.failures)
    out +=
        fmt::format("<li><b>{}</b>: {}: {}</li>\n", escape(failure.variant), escape(failure.reason),
                    escape(fmt::format("{}", fmt::join(failure.rows, ", "))));
  if (!summary.failures.empty()) out += "</ul>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace trireme::study
