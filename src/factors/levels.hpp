// SPDX-License-Identifier: BSD-3-Clause
// The levels of rows of L and of U.
#pragma once

#include "factors/pattern.hpp"

namespace trireme::factors {

// Makes pattern.lower and pattern.upper of its entries. Within a level, rows of L ascend and rows
// of U descend. The result is the same for any number of threads.
void find_levels(FactorPattern& pattern);

}  // namespace trireme::factors
