// SPDX-License-Identifier: BSD-3-Clause
// The list of all charts.
#include "report/svg_charts.hpp"

namespace trireme::svg {

std::vector<Chart> charts(const CaseOutcome& outcome, Amount amount) {
  std::vector<Chart> all = {convergence(outcome, amount), convergence_seconds(outcome, amount),
                            product_times(outcome, amount), product_distribution(outcome)};
  if (!outcome.runs.empty()) all.push_back(roofline(outcome));
  all.push_back(cost(outcome, account_of(outcome)));
  all.push_back(run_seconds(outcome));
  all.push_back(start_seconds(outcome));
  for (const RunOutcome& run : outcome.runs) {
    all.push_back(step_iterations(run));
    all.push_back(step_seconds(run));
  }
  all.push_back(pattern(outcome));
  all.push_back(row_lengths(outcome));
  std::erase_if(all, [](const Chart& chart) { return chart.empty(); });
  return all;
}

}  // namespace trireme::svg
