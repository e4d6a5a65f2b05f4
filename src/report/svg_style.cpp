// SPDX-License-Identifier: BSD-3-Clause
// Series colours are those of Okabe and Ito and of Tol, darker on white and lighter on black, so
// that they differ for colour-blind readers; dashes and markers differ as well.
#include "report/svg_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "report/svg_frame.hpp"

namespace trireme::svg {
namespace {

struct Colour {
  std::string_view name, light, dark, paper;
};
constexpr Colour kColours[] = {{"back", "#fff", "#12161c", "#fff"},
                               {"card", "#f6f8fa", "#1a2029", "#fff"},
                               {"text", "#1b2430", "#e6ebf2", "#000"},
                               {"dim", "#535f6e", "#a0acba", "#444"},
                               {"line", "#d5dbe2", "#323c49", "#bbb"},
                               {"good", "#0b6b3a", "#5fd39b", "#0b6b3a"},
                               {"bad", "#b3261e", "#ff8a80", "#b3261e"},
                               {"link", "#0b5cad", "#7cc0ff", "#0b5cad"},
                               {"shade", "#8c96a3", "#77869a", "transparent"},
                               {"s0", "#0072b2", "#56b4e9", "#0072b2"},
                               {"s1", "#d55e00", "#ff9248", "#d55e00"},
                               {"s2", "#00805d", "#3ddba7", "#00805d"},
                               {"s3", "#aa3377", "#ee88c0", "#aa3377"},
                               {"s4", "#8a6a00", "#f0d24a", "#8a6a00"},
                               {"s5", "#332288", "#a99cff", "#332288"},
                               {"s6", "#555b63", "#c4c9d1", "#555b63"},
                               {"s7", "#882255", "#ff7f9f", "#882255"}};

// Parts of bars keep white numbers readable on every ground.
constexpr std::string_view kParts[] = {"#0072b2", "#b34700", "#00704f", "#99306b", "#755a00",
                                       "#332288", "#505760", "#882255", "#1f6f8b", "#6b6f75"};

struct Rule {
  std::string selector, declarations;
};

std::vector<Rule> rules() {
  std::vector<Rule> rules = {
      {"svg text", "fill: var(--text); font-size: 11.5px;"},
      {"svg .tick", "fill: var(--dim);"},
      {"svg .axis", "fill: var(--dim);"},
      {"svg .name", "font-size: 12.5px;"},
      {"svg .number", "fill: #fff; font-weight: 600;"},
      {"line.grid", "stroke: var(--line);"},
      {".edge", "fill: none; stroke: var(--line);"},
      {".tolerance", "stroke: var(--dim); stroke-dasharray: 2 4;"},
      {".roof", "stroke: var(--text); stroke-width: 2;"},
      {".curve", "fill: none; stroke-width: 1.8; stroke-linejoin: round;"},
      {".faint", "fill: none; stroke-width: .8; stroke-opacity: .3;"},
      {".ring", "fill: none; stroke-width: 2; stroke: var(--text);"},
      {".end", "fill: none; stroke-width: 2;"},
      {"svg .note", "paint-order: stroke; stroke: var(--card); stroke-width: 3px;"},
      {".bar", "fill: var(--s0);"},
      {".cell", "fill: var(--s0);"},
      {".d1", "fill-opacity: .18;"},
      {".d2", "fill-opacity: .36;"},
      {".d3", "fill-opacity: .56;"},
      {".d4", "fill-opacity: .78;"},
      {".d5", "fill-opacity: 1;"},
      {".part", "stroke: var(--card);"}};
  for (std::size_t s = 0; s < kSeries; ++s) {
    const std::string colour = fmt::format("stroke: var(--s{});", s);
    const std::string dash =
        s == 0 ? "" : fmt::format(" stroke-dasharray: {} {};", 3 + 2 * s, 2 + s % 3);
    const bool strokes = s == 4 || s == 5;  // a cross and a plus
    rules.push_back({fmt::format(".curve.s{}", s), colour + dash});
    rules.push_back({fmt::format(".faint.s{}", s), colour});
    rules.push_back({fmt::format(".end.s{}", s), colour});
    rules.push_back(
        {fmt::format(".marker.s{}", s), colour + (strokes ? " fill: none; stroke-width: 2;"
                                                          : fmt::format(" fill: var(--s{});", s))});
  }
  for (std::size_t p = 0; p < std::size(kParts); ++p)
    rules.push_back(
        {fmt::format(".p{}", p), fmt::format("fill: {0}; background: {0};", kParts[p])});
  return rules;
}

std::string properties(std::string_view Colour::*ground) {
  std::string text;
  for (const Colour& colour : kColours)
    text += fmt::format(" --{}: {};", colour.name, colour.*ground);
  return text;
}

// The declarations with the colours for paper, without what SVG does not know.
std::string on_paper(std::string declarations) {
  for (const Colour& colour : kColours) {
    const std::string property = fmt::format("var(--{})", colour.name);
    for (std::size_t at = 0; (at = declarations.find(property, at)) != std::string::npos;)
      declarations.replace(at, property.size(), colour.paper);
  }
  return declarations.substr(0, declarations.find(" background:"));
}

std::set<std::string, std::less<>> classes_of(const std::string& content) {
  constexpr std::string_view kBegin = "class=\"";
  std::set<std::string, std::less<>> classes;
  for (std::size_t at = 0; (at = content.find(kBegin, at)) != std::string::npos;) {
    at += kBegin.size();
    const std::size_t end = content.find('"', at);
    for (std::size_t word = at; word < end;) {
      const std::size_t stop = std::min(content.find(' ', word), end);
      classes.insert(content.substr(word, stop - word));
      word = stop + 1;
    }
  }
  return classes;
}

bool applies(std::string_view selector, const std::set<std::string, std::less<>>& classes) {
  for (std::size_t at = 0; (at = selector.find('.', at)) != std::string_view::npos;) {
    ++at;
    const std::size_t end = std::min(selector.find_first_of(". ", at), selector.size());
    if (!classes.contains(selector.substr(at, end - at))) return false;
  }
  return true;
}

}  // namespace

std::string page_style() {
  std::string css = fmt::format(
      "\n:root {{ color-scheme: light dark;{} }}\n"
      "@media (prefers-color-scheme: dark) {{ :root {{{} }} }}\n"
      "@media print {{ :root {{{} }} }}\n",
      properties(&Colour::light), properties(&Colour::dark), properties(&Colour::paper));
  for (const Rule& rule : rules())
    css += fmt::format("{} {{ {} }}\n", rule.selector, rule.declarations);
  return css;
}

std::string paper_style(const std::string& content) {
  const auto classes = classes_of(content);
  std::string css = "text { font-family: Helvetica, Arial, sans-serif; }\n";
  for (const Rule& rule : rules())
    if (applies(rule.selector, classes))
      css += fmt::format("{} {{ {} }}\n", rule.selector, on_paper(rule.declarations));
  return css;
}

}  // namespace trireme::svg
