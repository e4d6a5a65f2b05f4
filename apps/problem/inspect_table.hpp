// SPDX-License-Identifier: BSD-3-Clause
// Matrix statistics as text, at most 100 columns wide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/system/looks.hpp"
#include "sparse/statistics.hpp"

namespace trireme::problem_app {

struct TableLine {
  std::string label, value;
};

// The shape, the statistics and what looks tell, of a square matrix; `duplicates_summed` stored
// entries were added to another.
// `near_nullspace` is what the file has for multigrid, in words; empty: no line. `vectors` are the
// lines of the right-hand side and the initial guess.
std::string matrix_table(const std::string& name, const MatrixStatistics& statistics,
                         const std::optional<Looks>& looks, std::int64_t duplicates_summed,
                         const std::string& near_nullspace = {},
                         const std::vector<TableLine>& vectors = {});
// One line per rank.
std::string ranks_table(const std::vector<RankShare>& shares);

}  // namespace trireme::problem_app
