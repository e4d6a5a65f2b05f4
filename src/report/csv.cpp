// SPDX-License-Identifier: BSD-3-Clause
// history.csv: one line per kernel and iteration.
#include <fmt/format.h>

#include <iterator>

#include "report/report.hpp"

namespace trireme {

std::string csv_history(const CaseOutcome& outcome) {
  std::string text = "kernel,iteration,relative_residual\n";
  for (const RunOutcome& run : outcome.runs)
    for (std::size_t i = 0; i < run.history.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{},{},{}\n", label(run), i, run.history[i]);
  return text;
}

}  // namespace trireme
