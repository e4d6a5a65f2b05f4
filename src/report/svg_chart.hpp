// SPDX-License-Identifier: BSD-3-Clause
// A chart with all that a page needs of it, or a file of its own.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::svg {

constexpr double kWidth = 400;  // of every chart, in units of its viewBox

struct Chart {
  std::string id;                    // unique in its report; the name of its files
  std::string title, description{};  // for screen readers
  double height = 0;
  std::string content{};                       // elements of SVG; empty: there is nothing to show
  std::string csv{};                           // the numbers that it shows
  std::vector<std::string> series{}, parts{};  // names of curves s0, s1, ... and of parts p0, ...

  bool empty() const { return content.empty(); }
};

// How many points of a long curve the numbers of a chart have: those that are drawn, or all.
enum class Amount { drawn, all };

// The chart within a page, whose style it takes.
std::string image(const Chart& chart);
// The chart as a file: with its style and a legend, in colours for paper.
std::string file(const Chart& chart);

// The name with '_' in place of what has a meaning in ids and paths.
std::string plain_name(std::string_view name);

// The numbers of a chart: a line of names, which carry the units, then one line per row.
class Csv {
 public:
  explicit Csv(std::string_view heads) : text_(heads) { text_ += '\n'; }

  template <class... Cells>
  void row(const Cells&... cells) {
    const char* comma = "";
    const auto add = [&](const auto& cell) {
      if constexpr (std::convertible_to<decltype(cell), std::string_view>)
        text_ += comma + quoted(cell);
      else
        fmt::format_to(std::back_inserter(text_), "{}{}", comma, cell);
      comma = ",";
    };
    (add(cells), ...);
    text_ += '\n';
  }

  const std::string& text() const { return text_; }

 private:
  static std::string quoted(std::string_view cell);

  std::string text_;
};

}  // namespace trireme::svg
