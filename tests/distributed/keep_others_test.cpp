// SPDX-License-Identifier: BSD-3-Clause
// Elements are removed from an array as by a loop over it, for any number of threads.
#include "distributed/keep_others.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "support/with_threads.hpp"

namespace trireme {
namespace {

struct Removal {
  std::string name;
  std::vector<std::int64_t> positions;
};

std::vector<std::int64_t> every(std::int64_t first, std::int64_t last, std::int64_t step) {
  std::vector<std::int64_t> positions;
  for (std::int64_t k = first; k < last; k += step) positions.push_back(k);
  return positions;
}

std::vector<std::int64_t> random_positions(std::int64_t count, std::uint64_t of_eight) {
  std::vector<std::int64_t> positions;
  for (std::int64_t k = 0; k < count; ++k)
    if (mix_bits(static_cast<std::uint64_t>(k) + of_eight) % 8 < of_eight) positions.push_back(k);
  return positions;
}

std::vector<Removal> removals(std::int64_t n) {
  return {{"none", {}},
          {"all", every(0, n, 1)},
          {"first half", every(0, n / 2, 1)},
          {"second half", every(n / 2, n, 1)},
          {"all but the last", every(0, n - 1, 1)},
          {"all but the first", every(1, n, 1)},
          {"every third", every(0, n, 3)},
          {"one of eight", random_positions(n, 1)},
          {"seven of eight", random_positions(n, 7)}};
}

TEST(KeepOthers, IsTheLoopForAnyNumberOfThreads) {
  for (const std::int64_t n : {0, 1, 2, 5, 64, 1000})
    for (const Removal& removal : removals(n))
      for (const int threads : {1, 2, 3, 7, 16}) {
        SCOPED_TRACE(removal.name + " of " + std::to_string(n) + ", threads " +
                     std::to_string(threads));
        const test::WithThreads set(threads);
        std::vector<std::int64_t> from(n);
        std::iota(from.begin(), from.end(), 100);
        std::vector<std::int64_t> expected;
        std::size_t next = 0;
        for (std::int64_t k = 0; k < n; ++k) {
          if (next < removal.positions.size() && removal.positions[next] == k)
            ++next;
          else
            expected.push_back(from[k]);
        }
        std::vector<std::int32_t> apart(n, -1);
        keep_others(std::span<const std::int64_t>(from), std::span(removal.positions), apart.data(),
                    [](std::int64_t value) { return static_cast<std::int32_t>(value - 100); });
        keep_others(std::span<const std::int64_t>(from), std::span(removal.positions), from.data());
        for (std::size_t k = 0; k < expected.size(); ++k) {
          ASSERT_EQ(from[k], expected[k]) << k;
          ASSERT_EQ(apart[k] + 100, expected[k]) << k;
        }
      }
}

}  // namespace
}  // namespace trireme
