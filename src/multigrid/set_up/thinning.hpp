// SPDX-License-Identifier: BSD-3-Clause
// How far a smoothed prolongator is thinned whose coarse matrix would fill up.
//
// A row of P has a run of numbers for each aggregate to which entries of A lead. Thinning leaves
// out the runs whose norm is below a part of that of the row's largest run: the entries that lead
// to them become weak, so that A_F has them on its diagonal (prolongator.hpp), and P = (I - w D^-1
// A_F) T is made again. It so reproduces the same vectors as any other filtered prolongator, and
// new values keep the choice.
//
// The part begins small and doubles until the coarse matrix has few enough nonzeros. A matrix that
// is a little too full therefore loses little, and converges nearly as fast as one that is just not
// too full. What is too full with the largest part too is coarsened by plain aggregation.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trireme::multigrid {

inline constexpr double kFirstThinning = 1.0 / 16, kLastThinning = 1.0 / 2;

// Runs of P to which an entry of A leads, on average. Meshes in three dimensions have up to 5;
// graphs without a geometry have more, and are not tried with small parts, which would not suffice.
inline constexpr double kRunsOfMeshes = 16;
inline constexpr double kFirstThinningOfGraphs = 1.0 / 4;

// Calls fits(part) for ever larger parts until it returns true; returns false where it never does.
// `runs` are those of all terms of A P, and `entries` the nonzeros of A, both of all ranks.
template <class Fits>
bool find_thinning(double runs, std::int64_t entries, const Fits& fits) {
  const bool mesh = runs <= kRunsOfMeshes * static_cast<double>(entries);
  for (double part = mesh ? kFirstThinning : kFirstThinningOfGraphs; part <= kLastThinning;
       part *= 2)
    if (fits(part)) return true;
  return false;
}

// The most nonzeros that the coarse matrix of one with `nnz` nonzeros may have; `fill` is that of
// Options.
inline std::int64_t most_nonzeros(double fill, std::int64_t nnz) {
  constexpr double kAny = 9e18;
  return static_cast<std::int64_t>(std::min(kAny, fill * static_cast<double>(nnz)));
}

}  // namespace trireme::multigrid
