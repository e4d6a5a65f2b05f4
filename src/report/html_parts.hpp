// SPDX-License-Identifier: BSD-3-Clause
// The parts of report.html, each in a file of its own, and what they are made of.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "report/account.hpp"
#include "report/outcome.hpp"
#include "report/svg_chart.hpp"

namespace trireme::html {

std::string style();

// The parts, in the order of the page. A part without content is an empty text.
std::string headline(const CaseOutcome& outcome);
std::string kernels(const CaseOutcome& outcome);
std::string curves(const CaseOutcome& outcome);
std::string account(const CaseOutcome& outcome);
std::string times(const CaseOutcome& outcome);
std::string trials(const CaseOutcome& outcome);
std::string preconditioners(const CaseOutcome& outcome);
std::string multigrid(const CaseOutcome& outcome);
std::string steps(const CaseOutcome& outcome);
std::string columns(const CaseOutcome& outcome);
std::string matrix(const CaseOutcome& outcome);
std::string details(const CaseOutcome& outcome);

// Cells hold HTML. The first cell of a row is its head. `text_columns` are aligned to the left.
class Table {
 public:
  Table(std::string caption, std::vector<std::string> heads,
        std::vector<std::size_t> text_columns = {});
  void row(const std::vector<std::string>& cells);
  std::string str() const;

 private:
  bool is_text(std::size_t column) const;

  std::string caption_, rows_, head_;
  std::vector<std::size_t> text_columns_;
};

// A chart with its title, links that save it and its numbers, a note and a legend above it; an
// empty text for an empty chart.
std::string figure(const std::string& title, const svg::Chart& chart, const std::string& note = "",
                   const std::string& legend = "");
// Figures side by side where the page is wide enough.
std::string grid(const std::vector<std::string>& figures);
std::string section(const std::string& id, const std::string& title, const std::string& content);
std::string fold(const std::string& summary, const std::string& content);
// Names with the line and the marker of their series, and with the number of their part.
std::string legend(const std::vector<std::string>& names);
std::string parts_legend(const std::vector<std::string>& names);

}  // namespace trireme::html
