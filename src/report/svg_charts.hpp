// SPDX-License-Identifier: BSD-3-Clause
// The charts of the HTML report. Series r is run r; colours and dashes come from svg_style, and
// markers from svg_frame. A chart without data is empty.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/account.hpp"
#include "report/outcome.hpp"
#include "report/svg_chart.hpp"

namespace trireme::svg {

// Residual (logarithmic) over iterations or over the seconds that they took by their mean time, and
// the true residual as a marked end point.
Chart convergence(const CaseOutcome& outcome, Amount amount = Amount::drawn);
Chart convergence_seconds(const CaseOutcome& outcome, Amount amount = Amount::drawn);

// Time of each product (logarithmic) over the products, and how often each time occurred. Where
// several runs have many products, the curves are medians of neighbours, before the faint times.
Chart product_times(const CaseOutcome& outcome, Amount amount = Amount::drawn);
Chart product_distribution(const CaseOutcome& outcome);

// Seconds over products, both logarithmic, of every entry of the account, with the crossings of
// cheapest entries marked. Series e is entry e.
Chart cost(const CaseOutcome& outcome, const Account& account);

// What bounds products on the device of the first run: the bandwidth of its memory or, where that
// was not measured, of arrays that are as large as the matrix. 0: not measured.
struct Roof {
  double gbytes_per_s = 0;
  bool of_small_arrays = false;
};
// There is a run.
Roof roof_of(const CaseOutcome& outcome);

// Rate of the product over its operations per byte, both logarithmic, with the measured bandwidth
// as a roof.
Chart roofline(const CaseOutcome& outcome);

// One bar per row, from parts whose numbers are those of the legend. `css` of part p is "p<p>".
struct BarRow {
  std::string name;
  std::vector<std::pair<std::string_view, double>> parts;  // seconds
};
Chart bars(const std::string& id, const std::string& title, const std::vector<BarRow>& rows);
// The parts of each run, and those of the start.
Chart run_seconds(const CaseOutcome& outcome);
Chart start_seconds(const CaseOutcome& outcome);

// Density of nonzeros in the cells of the pattern, and the number of rows over their lengths.
Chart pattern(const CaseOutcome& outcome);
Chart row_lengths(const CaseOutcome& outcome);

// Iterations, and seconds of reading, renewing and solving, over the steps of one run.
Chart step_iterations(const RunOutcome& run);
Chart step_seconds(const RunOutcome& run);

// All of these that have data, in the order of the page.
std::vector<Chart> charts(const CaseOutcome& outcome, Amount amount);

}  // namespace trireme::svg
