// SPDX-License-Identifier: BSD-3-Clause
// Matrix statistics as text, at most 100 columns wide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sparse/statistics.hpp"

namespace trireme::problem_app {

std::string matrix_table(const std::string& name, const MatrixStatistics& statistics,
                         std::int64_t duplicates_summed);
std::string ranks_table(const std::vector<RankShare>& shares);

}  // namespace trireme::problem_app
