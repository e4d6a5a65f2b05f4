// SPDX-License-Identifier: BSD-3-Clause
// How `method: auto` and `preconditioner: auto` chose, in sentences and in the cells of a table.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/ladder_outcome.hpp"
#include "report/preconditioner_choice.hpp"

namespace trireme::words {

inline constexpr std::array<std::string_view, 7> kChoiceHeads = {
    "preconditioner", "figures", "set-up", "iteration", "one solve", "pays after", "why"};

// The cells of a candidate, in the order of kChoiceHeads.
std::array<std::string, kChoiceHeads.size()> cells(const PreconditionerCandidate& candidate);

// "auto took multigrid from iteration 24 on, for 10 solves: its set-up has paid after 1 solve"
std::string chosen(const PreconditionerChoice& choice);

inline constexpr std::array<std::string_view, 8> kRungHeads = {
    "method", "preconditioner", "scaling", "why", "iterations", "residual", "time", "end"};

// The cells of a rung, in the order of kRungHeads.
std::array<std::string, kRungHeads.size()> cells(const RungOutcome& rung);

// "auto: bicgstab with jacobi, because ... (250 ms: left: ...)", "then direct with lu, because ..."
std::vector<std::string> rungs(const LadderOutcome& ladder);

}  // namespace trireme::words
