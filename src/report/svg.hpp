// SPDX-License-Identifier: BSD-3-Clause
// The two charts of the HTML report as inline SVG; colours come from the page (classes s0 to s7).
#pragma once

#include <cstddef>
#include <string>

#include "report/outcome.hpp"

namespace trireme::svg {

constexpr std::size_t kColours = 8;

// Residual (logarithmic) over iterations (linear), one line per run. Empty where no run has a
// history.
std::string convergence(const CaseOutcome& outcome);

// One bar per run: the median time of one product, with a whisker to the 95th percentile.
std::string kernel_times(const CaseOutcome& outcome);

// The characters that HTML reserves, replaced by entities.
std::string escape(const std::string& content);

}  // namespace trireme::svg
