// SPDX-License-Identifier: BSD-3-Clause
// The two charts of the HTML report as inline SVG; colours come from the page (classes s0 to s7).
#pragma once

#include <cstddef>
#include <string>

#include "report/outcome.hpp"

namespace trireme::svg {

constexpr std::size_t kColours = 8;

// Residual (log) over iterations (linear), one line a run. Empty when no run has a history.
std::string convergence(const CaseOutcome& outcome);

// A bar a run: median time of one product, a whisker to its 95th percentile.
std::string kernel_times(const CaseOutcome& outcome);

// The characters that HTML reserves, replaced by entities.
std::string escape(const std::string& text);

}  // namespace trireme::svg
