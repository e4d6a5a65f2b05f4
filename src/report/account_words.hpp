// SPDX-License-Identifier: BSD-3-Clause
// The account and the start in one line each.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/account.hpp"

namespace trireme::words {

using Part = std::pair<std::string_view, double>;  // name, seconds

// The parts of a run's time and of the start, in the order of their figures, zeros included. What a
// total has beyond them is "other".
std::vector<Part> parts(const Seconds& seconds);
std::vector<Part> parts(const StartSeconds& start);

// "first iteration 0.84 s after the start: libraries 0.21, reading 0.28, other 0.02". Parts below
// half a percent are left out. Empty where the start was not measured.
std::string start(const StartSeconds& start);

// "reading 200 ms, building 12.0 ms, iterating 1.50 s"
std::string spent(const Seconds& seconds);

// "over 10 products: csr; over 100 and 1000: albus; over 10000: teb". Empty with fewer than two
// entries.
std::string cheapest(const Account& account);

// "albus was the best choice for its 313 products", or what would have been better and by how much.
std::string hindsight(const CaseOutcome& outcome, const Account& account, const Hindsight& h);

// What the terminal shows of the account: spent, cheapest, and the hindsight of the first run. Each
// has the word that begins its line: "time", "cheapest", "choice".
std::vector<std::pair<std::string_view, std::string>> account_facts(const CaseOutcome& outcome);

// The same in one sentence.
std::string account_line(const CaseOutcome& outcome);

}  // namespace trireme::words
