// SPDX-License-Identifier: BSD-3-Clause
// Escapes are those of ECMA-48, which every terminal with colours knows.
#include "report/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.hpp"

namespace trireme {
namespace {

constexpr std::size_t kFactColumn = 18;  // of the text of a fact

const char* escape_of(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::head:
      return "\033[1m";
    case Emphasis::good:
      return "\033[32m";
    case Emphasis::bad:
      return "\033[31m";
  }
  return "";
}

}  // namespace

std::string ConsoleText::emphasised(std::string_view text, Emphasis emphasis) const {
  const std::string plain = printable(text);
  return console_.colours ? escape_of(emphasis) + plain + "\033[0m" : plain;
}

void ConsoleText::add_line(const std::string& text) {
  if (std::exchange(blank_, false)) text_ += '\n';
  text_ += text + "\n";
}

void ConsoleText::line(std::string_view text) { add_line(printable(text)); }

void ConsoleText::line(std::string_view text, Emphasis emphasis) {
  add_line(emphasised(text, emphasis));
}

void ConsoleText::paragraph(std::string_view text) { line(wrap(text, width(), 2)); }

void ConsoleText::verdict(const std::string& name, const std::string& end, Emphasis emphasis) {
  const std::string wrapped = wrap(name + ": " + end, width(), 2);
  const std::size_t from = name.size() + 2;
  const std::size_t to = std::min({wrapped.find_first_of(":;,\n", from), wrapped.size()});
  add_line(printable(wrapped.substr(0, from)) +
           emphasised(wrapped.substr(from, to - from), emphasis) + printable(wrapped.substr(to)));
}

void ConsoleText::fact(std::string_view what, std::string_view text, std::size_t indent) {
  if (text.empty()) return;
  const std::string label = fmt::format("{:{}}{:<{}}", "", indent, what, kFactColumn - indent);
  line(label + wrap(text, width(), kFactColumn, label.size()));
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view kEnd = " ...";
  if (text.size() <= most) return std::string(text);
  const std::string_view kept = text.substr(0, most - kEnd.size());
  for (const std::string_view mark : {"; ", ", ", " "}) {
    const std::size_t end = kept.rfind(mark);
    if (end != std::string_view::npos && 2 * end >= kept.size())
      return std::string(kept.substr(0, end)) + std::string(kEnd);
  }
  return std::string(kept) + std::string(kEnd);
}

}  // namespace trireme
