// SPDX-License-Identifier: BSD-3-Clause
// How `method: auto` and `preconditioner: auto` chose, in sentences and in the cells of a table.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "report/ladder_outcome.hpp"
#include "report/preconditioner_choice.hpp"

namespace trireme::words {

inline constexpr std::array<std::string_view, 7> kChoiceHeads = {
    "preconditioner", "figures", "set-up", "iteration", "one solve", "pays after", "why"};

// The cells of a candidate, in the order of kChoiceHeads.
std::array<std::string, kChoiceHeads.size()> cells(const PreconditionerCandidate& candidate);

// "preconditioner: auto took multigrid from iteration 24 on, for 10 solves: its set-up has paid
// after 1 solve; jacobi: measured: a solve would take 4 times the time; ..."
std::string choice(const PreconditionerChoice& choice);

inline constexpr std::array<std::string_view, 8> kRungHeads = {
    "method", "preconditioner", "scaling", "why", "iterations", "residual", "time", "end"};

// The cells of a rung, in the order of kRungHeads.
std::array<std::string, kRungHeads.size()> cells(const RungOutcome& rung);

// "method: auto took bicgstab: the matrix is not symmetric, ..."; the rungs before it come first.
std::string ladder(const LadderOutcome& ladder);

}  // namespace trireme::words
