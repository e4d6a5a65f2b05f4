// SPDX-License-Identifier: BSD-3-Clause
// Sums of counts, lists and sorts by several threads are those of one pass over all numbers.
#include "multigrid/set_up/host_place.hpp"

#include <gtest/gtest.h>

#include <new>
#include <numeric>

#include "base/split_mix.hpp"
#include "multigrid/set_up/members.hpp"
#include "support/with_threads.hpp"

namespace trireme::multigrid {
namespace {

Array<std::int32_t> random_numbers(std::int64_t n, std::int32_t below, std::int32_t least = 0) {
  Array<std::int32_t> numbers(n);
  for (std::int64_t i = 0; i < n; ++i)
    numbers[i] = static_cast<std::int32_t>(
        least +
        static_cast<std::int64_t>(split_mix(i, 5) % static_cast<std::uint64_t>(below - least)));
  return numbers;
}

constexpr std::int64_t kLengths[] = {0, 1, 1000, 200'001};

TEST(HostPlace, SumsCountsExclusively) {
  const trireme::test::WithThreads threads(3);
  for (const std::int64_t n : kLengths) {
    const Array<std::int32_t> counts = random_numbers(n, 9);
    Array<std::int32_t> sums = counts;
    sums.push_back(0);
    const std::int64_t total = HostPlace::sum_exclusively(sums);
    Array<std::int32_t> expected(n + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), expected.begin() + 1);
    EXPECT_EQ(sums, expected);
    EXPECT_EQ(total, expected.back());
  }
}

TEST(HostPlace, TellsATotalThatDoesNotFitInto32Bits) {
  const trireme::test::WithThreads threads(3);
  Array<std::int32_t> counts(100'001, 1 << 20);
  EXPECT_EQ(HostPlace::sum_exclusively(counts), 100'000LL << 20);
}

TEST(HostPlace, ErasesFromAListAndKeepsItsOrder) {
  const trireme::test::WithThreads threads(3);
  for (const std::int64_t n : kLengths)
    for (const int least : {0, 3, 9}) {
      Array<std::int32_t> list = random_numbers(n, 9), expected = list;
      const auto drop = [&](std::int32_t number) { return number < least; };
      HostPlace::erase_if(list, drop);
      std::erase_if(expected, drop);
      EXPECT_EQ(list, expected);
    }
}

TEST(HostPlace, ThrowsWhatAThreadHasThrown) {
  const trireme::test::WithThreads threads(3);
  const auto turn = [](std::int64_t number, int) {
    if (number == 70) throw std::bad_alloc();
  };
  EXPECT_THROW(HostPlace::for_each_turn(
                   100, [] { return 0; }, turn),
               std::bad_alloc);
  EXPECT_NO_THROW(HostPlace::for_each_turn(
      60, [] { return 0; }, turn));
}

TEST(Members, AreThoseOfEachPartInTheirOrder) {
  const trireme::test::WithThreads threads(3);
  for (const std::int64_t n : kLengths) {
    const std::int32_t parts = 50;
    const Array<std::int32_t> part = random_numbers(n, parts, -1);
    const Members members(part, parts);
    Array<std::int32_t> expected;
    for (std::int32_t p = 0; p < parts; ++p) {
      EXPECT_EQ(members.first[p], std::ssize(expected));
      for (std::int32_t node = 0; node < n; ++node)
        if (part[node] == p) expected.push_back(node);
    }
    EXPECT_EQ(members.member, expected);
  }
}

}  // namespace
}  // namespace trireme::multigrid
