// SPDX-License-Identifier: BSD-3-Clause
// Tables, figures and sections that a screen reader can walk through.
#include "report/html_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "report/svg_frame.hpp"

namespace trireme::html {

using svg::escape;
namespace {

// Only what needs no encoding within the data of a URL nor within an attribute of HTML stays.
std::string percent_encoded(const std::string& content) {
  constexpr std::string_view kPlain = "-_.~,;/=()'*!@$ ";
  std::string out;
  out.reserve(content.size() + content.size() / 4);
  for (const char c : content) {
    if (std::isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != std::string_view::npos)
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// A link that saves `content` under a name: the content stands in the link.
std::string save(const std::string& name, const char* type, const std::string& content,
                 const std::string& title) {
  const char* kind = name.ends_with(".svg") ? "SVG" : "CSV";
  return fmt::format(
      "<a download=\"{}\" href=\"data:{};charset=utf-8,{}\" aria-label=\"{} as {}\">{}</a>", name,
      type, percent_encoded(content), title, kind, kind);
}

}  // namespace

Table::Table(std::string caption, std::vector<std::string> heads,
             std::vector<std::size_t> text_columns)
    : caption_(std::move(caption)), text_columns_(std::move(text_columns)) {
  for (std::size_t i = 0; i < heads.size(); ++i)
    head_ +=
        fmt::format("<th scope=\"col\"{}>{}</th>", is_text(i) ? " class=\"text\"" : "", heads[i]);
}

bool Table::is_text(std::size_t column) const {
  return column == 0 || std::ranges::find(text_columns_, column) != text_columns_.end();
}

void Table::row(const std::vector<std::string>& cells) {
  rows_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    rows_ += i == 0 ? fmt::format("<th scope=\"row\" class=\"text\">{}</th>", cells[i])
                    : fmt::format("<td{}>{}</td>", is_text(i) ? " class=\"text\"" : "", cells[i]);
  rows_ += "</tr>\n";
}

std::string Table::str() const {
  if (rows_.empty()) return "";
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table>\n"
      "<caption>{0}</caption>\n<thead><tr>{1}</tr></thead>\n<tbody>\n{2}</tbody></table></div>\n",
      caption_, head_, rows_);
}

std::string figure(const std::string& title, const svg::Chart& chart, const std::string& note,
                   const std::string& legend) {
  if (chart.empty()) return "";
  return fmt::format(
      "<figure>\n<figcaption><h3>{}</h3><p class=\"save\">{} {}</p>{}{}</figcaption>\n"
      "{}</figure>\n",
      title, save(chart.id + ".svg", "image/svg+xml", svg::file(chart), title),
      save(chart.id + ".csv", "text/csv", chart.csv, title),
      note.empty() ? "" : "<p class=\"dim\">" + note + "</p>", legend, svg::image(chart));
}

std::string grid(const std::vector<std::string>& figures) {
  std::string content;
  for (const std::string& figure : figures) content += figure;
  return content.empty() ? "" : "<div class=\"grid\">\n" + content + "</div>\n";
}

std::string section(const std::string& id, const std::string& title, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                     id, title, content);
}

std::string fold(const std::string& summary, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, content);
}

std::string legend(const std::vector<std::string>& names) {
  std::string items;
  for (std::size_t i = 0; i < names.size(); ++i)
    items += fmt::format(
        "<li><svg class=\"swatch\" viewBox=\"0 0 44 12\" aria-hidden=\"true\">{}{}</svg>{}</li>\n",
        svg::line(fmt::format("curve s{}", i % svg::kSeries), 0, 6, 44, 6), svg::marker(i, 22, 6),
        escape(names[i]));
  return items.empty() ? "" : "<ul class=\"legend\">\n" + items + "</ul>\n";
}

std::string parts_legend(const std::vector<std::string>& names) {
  std::string items;
  for (std::size_t p = 0; p < names.size(); ++p)
    items += fmt::format("<li><b class=\"p{}\">{}</b>{}</li>\n", p, p + 1, escape(names[p]));
  return items.empty() ? "" : "<ul class=\"legend\">\n" + items + "</ul>\n";
}

}  // namespace trireme::html
