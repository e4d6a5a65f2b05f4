// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which solves on a GPU choose their form.
#pragma once

#include <cstdint>

namespace trireme::solvers {

// Iterations per round of the loop of a graph, or per batch that the host launches.
inline constexpr int kDefaultUnroll = 4;
// With a given preconditioner: what is recorded of it runs also after the loop has ended.
inline constexpr int kGivenUnroll = 1;
// The persistent kernel uses single-reduction CG up to this number of rows: one wait costs as much
// time as the vector updates of some 40,000 rows (measured on an H200).
inline constexpr std::int64_t kSingleReductionUpToRows = 40'000;

}  // namespace trireme::solvers
