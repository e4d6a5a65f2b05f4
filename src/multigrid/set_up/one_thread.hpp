// SPDX-License-Identifier: BSD-3-Clause
// A thread of the host in the place of a group of lanes that share a row of a functor.
//
// The functor gets a group after the number of its row. rank() and size() are those of the lane.
// sum(), maximum() and ballot() join a number of each lane, and total(n, term) adds term(0) to
// term(n - 1): lane l adds the terms l, l + kLanes, ..., and the sums of lanes are added by halves.
// All lanes call these four together, and all get the result.
#pragma once

#include <cstdint>

namespace trireme::multigrid {

template <int kLanes>
struct OneThread {
  static constexpr std::int32_t rank() { return 0; }
  static constexpr std::int32_t size() { return 1; }
  static constexpr std::int32_t sum(std::int32_t value) { return value; }
  static constexpr double maximum(double value) { return value; }
  static constexpr std::uint32_t ballot(bool value) { return value ? 1 : 0; }
  template <class Term>
  static double total(std::int64_t n, const Term& term) {
    double sums[kLanes] = {};
    std::int64_t t = 0;
    for (; t + kLanes <= n; t += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) sums[lane] += term(t + lane);
    for (int lane = 0; t < n; ++t, ++lane) sums[lane] += term(t);
    for (int half = kLanes / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
  }
};

inline constexpr int kLanesOfRow = 8;         // that share a row of a matrix
inline constexpr int kLanesOfAggregate = 32;  // that share the rows of an aggregate

// f(i) of a functor for groups of kLanes.
template <int kLanes, class F>
struct ByOneThread {
  F f;
  auto operator()(std::int64_t i) const { return f(i, OneThread<kLanes>()); }
};
template <int kLanes, class F>
ByOneThread<kLanes, F> by_one_thread(const F& f) {
  return {f};
}

}  // namespace trireme::multigrid
