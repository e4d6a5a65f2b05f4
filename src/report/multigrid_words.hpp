// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy in sentences and in the cells of a table, which all reports share.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/account_words.hpp"
#include "report/outcome.hpp"

namespace trireme::words {

inline constexpr std::array<std::string_view, 8> kLevelHeads = {
    "level", "rows", "nonzeros", "prolongator", "ranks", "kernel", "values", "product"};

// The cells of level k, in the order of kLevelHeads. "ranks" says "each" where every rank holds the
// whole level, else the number of ranks that share it.
std::array<std::string, kLevelHeads.size()> level_cells(const RunOutcome& run, std::size_t k);

// The parts of the set-up in their order with "other", zeros included.
std::vector<Part> parts(const MultigridSetUp& set_up);

// "multigrid: 4 levels, operator complexity 1.32, grid complexity 1.15, 12.0 MB; V-cycle,
// Chebyshev polynomial of degree 2; convergence factor 0.21"
std::string hierarchy(const RunOutcome& run);

// "its set-up took 120 ms: strength 10.0 ms, aggregation 20.0 ms, ..."; parts below half a percent
// are left out. Says too what reading the hierarchy has saved, or what keeping it took.
std::string set_up(const MultigridOutcome& multigrid);

// The lines of the table of levels, in `width` columns.
std::vector<std::string> level_table(const RunOutcome& run, std::size_t width);

}  // namespace trireme::words
