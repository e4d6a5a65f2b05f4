// SPDX-License-Identifier: BSD-3-Clause
// Entities for what begins HTML, backslashes for what begins Markdown.
#include "report/markdown_text.hpp"

#include <algorithm>

#include "base/printable.hpp"

namespace trireme::markdown {

std::string escape(std::string_view content) {
  std::string line(content), out;
  std::ranges::replace(line, '\n', ' ');
  for (const char c : printable_line(line)) switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '|':
      case '*':
      case '_':
      case '`':
      case '[':
      case ']':
      case '\\':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  return out;
}

}  // namespace trireme::markdown
