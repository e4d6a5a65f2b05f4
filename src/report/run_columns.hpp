// SPDX-License-Identifier: BSD-3-Clause
// The figures of runs that people see side by side: the columns of the table on the terminal, of
// report.md and of "Kernels side by side" of report.html. The name of the run stands before them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/outcome.hpp"

namespace trireme {

struct RunColumn {
  // The two lines of the head on the terminal; null: not shown there.
  const char *above, *head;
  int goes;                     // which column leaves a narrow terminal: 1 goes first, 0 stays
  const char *markdown, *html;  // heads; null: not shown there
  std::string (*text)(const RunOutcome&);
  // The number alone, where the head on the terminal has its unit; null: the text.
  std::string (*number)(const RunOutcome&) = nullptr;
};

std::span<const RunColumn> run_columns();

// The heads of a file's table and the cells of a run, for example with &RunColumn::markdown.
std::vector<std::string> run_heads(const char* RunColumn::*file);
std::vector<std::string> run_cells(const std::string& name, const RunOutcome& run,
                                   const char* RunColumn::*file);

}  // namespace trireme
