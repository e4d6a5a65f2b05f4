// SPDX-License-Identifier: BSD-3-Clause
// Words about the distribution of the rows.
#pragma once

#include <string>

#include "report/outcome.hpp"

namespace trireme::words {

// Which distribution, its figures before and after, what it cost and whether that has paid. Empty
// on one rank.
std::string distribution(const CaseOutcome& outcome);

}  // namespace trireme::words
