// SPDX-License-Identifier: BSD-3-Clause
// The charts of the HTML report as inline SVG. Series r is run r; colours, dashes and markers come
// from the page and from svg_frame. A chart without data is an empty text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/account.hpp"
#include "report/outcome.hpp"

namespace trireme::svg {

// Residual (logarithmic) over iterations, and the true residual as a marked end point.
std::string convergence(const CaseOutcome& outcome);

// Time of each product (logarithmic) over the products, and how often each time occurred.
std::string product_times(const CaseOutcome& outcome);
std::string product_distribution(const CaseOutcome& outcome);

// Seconds over products, both logarithmic, of every entry of the account, with the crossings of
// cheapest entries marked. Series e is entry e.
std::string cost(const CaseOutcome& outcome, const Account& account);

// Rate of the product over its operations per byte, both logarithmic, with the measured bandwidth
// as a roof.
std::string roofline(const CaseOutcome& outcome);

// One bar per row, from parts whose numbers are those of the legend. `css` of part p is "p<p>".
struct BarRow {
  std::string name;
  std::vector<std::pair<std::string_view, double>> parts;  // seconds
};
std::string bars(const std::string& id, const std::string& title, const std::vector<BarRow>& rows);

// Density of nonzeros in the cells of the pattern, and the number of rows over their lengths.
std::string pattern(const CaseOutcome& outcome);
std::string row_lengths(const CaseOutcome& outcome);

// Iterations, and seconds of reading, renewing and solving, over the steps of one run.
std::string step_iterations(const RunOutcome& run);
std::string step_seconds(const RunOutcome& run);

}  // namespace trireme::svg
