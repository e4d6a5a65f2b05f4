// SPDX-License-Identifier: BSD-3-Clause
// A table of text in a given width. Where all columns are wider, the least important ones go.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace trireme {

struct TextColumn {
  std::vector<std::string> cells;  // the lines of the head first
  int goes = 0;                    // 1 goes first, then 2, and so on; 0: stays
  bool left = false;               // where the cells begin; else they end at the right
};

// The lines of the table, each with `indent` spaces before it. All columns have as many cells.
// Columns have two spaces between them where that fits, and else one.
inline std::vector<std::string> table_lines(std::vector<TextColumn> columns, std::size_t width,
                                            std::size_t indent = 0) {
  const auto width_of = [](const TextColumn& column) {
    std::size_t widest = 0;
    for (const std::string& cell : column.cells) widest = std::max(widest, cell.size());
    return widest;
  };
  const auto fits = [&](std::size_t gap) {
    std::size_t all = indent;
    for (const TextColumn& column : columns) all += width_of(column) + gap;
    return all <= width + gap;
  };
  while (!fits(1)) {
    auto first = columns.end();
    for (auto column = columns.begin(); column != columns.end(); ++column)
      if (column->goes > 0 && (first == columns.end() || column->goes < first->goes))
        first = column;
    if (first == columns.end()) break;
    columns.erase(first);
  }
  const std::string gap(fits(2) ? 2 : 1, ' ');
  std::vector<std::string> lines(columns.empty() ? 0 : columns.front().cells.size());
  for (std::size_t row = 0; row < lines.size(); ++row) {
    lines[row].assign(indent, ' ');
    for (const TextColumn& column : columns) {
      if (&column != &columns.front()) lines[row] += gap;
      lines[row] += column.left ? fmt::format("{:<{}}", column.cells[row], width_of(column))
                                : fmt::format("{:>{}}", column.cells[row], width_of(column));
    }
    lines[row].erase(lines[row].find_last_not_of(' ') + 1);
  }
  return lines;
}

}  // namespace trireme
