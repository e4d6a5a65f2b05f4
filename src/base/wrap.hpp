// SPDX-License-Identifier: BSD-3-Clause
// Text in lines of a given width.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace trireme {

// The text in lines of at most `width` columns where words allow it. The first line goes on from
// column `column`; every other line begins with `indent` spaces.
inline std::string wrap(std::string_view text, std::size_t width, std::size_t indent,
                        std::size_t column = 0) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > width) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

}  // namespace trireme
