// SPDX-License-Identifier: BSD-3-Clause
// How `preconditioner: auto` chose, in sentences and in the cells of a table.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "report/preconditioner_choice.hpp"

namespace trireme::words {

inline constexpr std::array<std::string_view, 7> kChoiceHeads = {
    "preconditioner", "figures", "set-up", "iteration", "one solve", "pays after", "why"};

// The cells of a candidate, in the order of kChoiceHeads.
std::array<std::string, kChoiceHeads.size()> cells(const PreconditionerCandidate& candidate);

// "preconditioner: auto took multigrid from iteration 24 on, for 10 solves: its set-up has paid
// after 1 solve; jacobi: measured: a solve would take 4 times the time; ..."
std::string choice(const PreconditionerChoice& choice);

}  // namespace trireme::words
