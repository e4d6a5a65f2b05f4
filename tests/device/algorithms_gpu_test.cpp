// SPDX-License-Identifier: BSD-3-Clause
// Scans, sorts and selections on a GPU against loops on the host: at sizes around those of a warp,
// of a tile and of many tiles, in place where that is allowed, with outputs that were poisoned
// before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/scan.hpp"
#include "device/select.hpp"
#include "device/sort.hpp"
#include "support/random.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kSizes[] = {1, 31, 33, 1023, 4097, 1'000'003};

class DeviceAlgorithms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
    stream_.emplace();
  }

  template <class Number>
  DeviceBuffer<Number> up(const std::vector<Number>& numbers) {
    return to_device(std::span<const Number>(numbers), *stream_);
  }
  template <class Number>
  std::vector<Number> down(const DeviceBuffer<Number>& buffer) {
    const auto received = to_host(buffer.view(), *stream_);
    return {received.begin(), received.end()};
  }
  // Memory whose numbers no result of these tests has.
  template <class Number>
  DeviceBuffer<Number> poisoned(std::int64_t size) {
    return up(std::vector<Number>(static_cast<std::size_t>(size),
                                  static_cast<Number>(std::numeric_limits<Number>::max() - 77)));
  }
  template <class Number>
  std::vector<Number> drawn(std::int64_t size, std::int64_t below, std::uint64_t seed) {
    test::Random random(seed);
    std::vector<Number> numbers(static_cast<std::size_t>(size));
    for (Number& number : numbers) number = static_cast<Number>(random.below(below));
    return numbers;
  }

  template <class Number>
  void check_exclusive_sums() {
    for (const std::int64_t size : kSizes) {
      const auto numbers = drawn<Number>(size, 1000, 1);
      std::vector<Number> expected(numbers.size());
      std::exclusive_scan(numbers.begin(), numbers.end(), expected.begin(), Number{0});
      const auto from = up(numbers);
      const auto to = poisoned<Number>(size);
      exclusive_sum(from.view(), to.span(), *stream_);
      EXPECT_EQ(down(to), expected) << size;
      EXPECT_EQ(down(from), numbers) << size;
      exclusive_sum_in_place(from.span(), *stream_);
      EXPECT_EQ(down(from), expected) << "in place, " << size;
    }
  }

  template <class Key, class Value>
  void check_sort_pairs(int bits) {
    for (const std::int64_t size : kSizes) {
      // Bits above `bits` differ too, and must not count.
      const auto keys = drawn<Key>(size, std::numeric_limits<std::int32_t>::max(), 2);
      std::vector<Value> values(keys.size());
      std::iota(values.begin(), values.end(), Value{0});
      std::vector<Value> expected = values;
      const auto part = [&](Value i) {
        return bits == 8 * sizeof(Key) ? keys[i] : static_cast<Key>(keys[i] % (Key{1} << bits));
      };
      std::ranges::stable_sort(expected, {}, part);
      const auto k = up(keys);
      const auto v = up(values);
      const auto sorted_keys = poisoned<Key>(size);
      const auto sorted_values = poisoned<Value>(size);
      sort_pairs(k.view(), sorted_keys.span(), v.view(), sorted_values.span(), bits, *stream_);
      EXPECT_EQ(down(sorted_values), expected) << size << " pairs, " << bits << " bits";
      std::vector<Key> expected_keys(keys.size());
      std::ranges::transform(expected, expected_keys.begin(), [&](Value i) { return keys[i]; });
      EXPECT_EQ(down(sorted_keys), expected_keys) << size << " pairs, " << bits << " bits";
      EXPECT_EQ(down(k), keys);
    }
  }

  std::optional<Stream> stream_;  // empty without a GPU
};

TEST_F(DeviceAlgorithms, ExclusiveSumsAlsoInPlaceAlsoUnderASanitizer) {
  check_exclusive_sums<std::int32_t>();
  check_exclusive_sums<std::uint32_t>();
  check_exclusive_sums<std::int64_t>();
}

TEST_F(DeviceAlgorithms, ExclusiveSumsOf64BitsLeaveTheRangeOf32) {
  const std::vector<std::int64_t> numbers = {std::int64_t{1} << 40, 5, std::int64_t{1} << 41, 0};
  const auto sums = up(numbers);
  exclusive_sum_in_place(sums.span(), *stream_);
  EXPECT_EQ(down(sums), (std::vector<std::int64_t>{0, numbers[0], numbers[0] + 5,
                                                   numbers[0] + 5 + numbers[2]}));
}

TEST_F(DeviceAlgorithms, SumsOfTriplesAreThreeSumsAlsoUnderASanitizer) {
  for (const std::int64_t size : kSizes) {
    const auto numbers = drawn<std::int32_t>(3 * size, 1000, 3);
    std::vector<std::int32_t> expected(numbers.size(), 0);
    for (std::size_t i = 3; i < expected.size(); ++i)
      expected[i] = expected[i - 3] + numbers[i - 3];
    const auto from = up(numbers);
    const auto to = poisoned<std::int32_t>(3 * size);
    exclusive_sum_of_triples(from.view(), to.span(), *stream_);
    EXPECT_EQ(down(to), expected) << size;
  }
}

TEST_F(DeviceAlgorithms, InclusiveSumsAndTotalsAlsoUnderASanitizer) {
  for (const std::int64_t size : kSizes) {
    const auto numbers = drawn<std::int32_t>(size, 2000, 4);
    std::vector<std::int32_t> expected(numbers.size());
    std::partial_sum(numbers.begin(), numbers.end(), expected.begin());
    const auto sums = up(numbers);
    inclusive_sum(sums.view(), sums.span(), *stream_);
    EXPECT_EQ(down(sums), expected) << size;
  }
  // The total is right where 32 bits do not hold it, and 0 without numbers.
  const auto large =
      up(std::vector<std::int32_t>(100'000, std::numeric_limits<std::int32_t>::max()));
  const auto total = poisoned<std::int64_t>(1);
  write_total(large.view(), total.data(), *stream_);
  EXPECT_EQ(down(total)[0], 100'000 * std::int64_t{std::numeric_limits<std::int32_t>::max()});
  write_total({}, total.data(), *stream_);
  EXPECT_EQ(down(total)[0], 0);
}

TEST_F(DeviceAlgorithms, SortsAreStableAndLookAtTheLowestBitsAlsoUnderASanitizer) {
  check_sort_pairs<std::uint16_t, std::int32_t>(11);
  check_sort_pairs<std::uint32_t, std::int32_t>(7);
  check_sort_pairs<std::uint32_t, std::int32_t>(32);
  check_sort_pairs<std::uint64_t, std::int32_t>(20);
  check_sort_pairs<std::uint64_t, std::uint32_t>(64);
}

TEST_F(DeviceAlgorithms, DescendingSortsAlsoUnderASanitizer) {
  for (const std::int64_t size : kSizes) {
    const auto keys = drawn<std::int32_t>(size, 50, 5);
    std::vector<std::int32_t> expected(keys.size());
    std::iota(expected.begin(), expected.end(), 0);
    const std::vector<std::int32_t> values = expected;
    std::ranges::stable_sort(expected, std::ranges::greater(),
                             [&](std::int32_t i) { return keys[i]; });
    std::vector<std::int32_t> expected_keys = keys;
    std::ranges::sort(expected_keys, std::ranges::greater());
    const auto k = up(keys);
    const auto v = up(values);
    const auto sorted_keys = poisoned<std::int32_t>(size);
    const auto sorted_values = poisoned<std::int32_t>(size);
    sort_pairs_descending(k.view(), sorted_keys.span(), v.view(), sorted_values.span(), *stream_);
    EXPECT_EQ(down(sorted_values), expected) << size;
    EXPECT_EQ(down(sorted_keys), expected_keys) << size;
    const auto only_keys = poisoned<std::int32_t>(size);
    sort_keys_descending(k.view(), only_keys.span(), *stream_);
    EXPECT_EQ(down(only_keys), expected_keys) << size;
  }
}

TEST_F(DeviceAlgorithms, FlaggedNumbersKeepTheirOrderAlsoUnderASanitizer) {
  for (const std::int64_t size : kSizes) {
    for (const int share : {0, 1, 2, 7}) {  // none, all, a half, a seventh of the flags are 1
      std::vector<std::uint8_t> flags = drawn<std::uint8_t>(size, std::max(share, 1), 6);
      for (std::uint8_t& flag : flags) flag = share != 0 && flag == 0 ? 1 : 0;
      const auto numbers = drawn<std::int32_t>(size, 1 << 30, 7);
      std::vector<std::int32_t> places, values, others;
      for (std::int32_t i = 0; i < size; ++i) {
        if (flags[i]) {
          places.push_back(i);
          values.push_back(numbers[i]);
        } else {
          others.push_back(i);
        }
      }
      const auto f = up(flags);
      const auto n = up(numbers);
      const auto front = [&](const DeviceBuffer<std::int32_t>& buffer, std::int64_t count) {
        auto all = down(buffer);
        all.resize(static_cast<std::size_t>(count));
        return all;
      };
      const auto selected = poisoned<std::int32_t>(size);
      EXPECT_EQ(front(selected, select_flagged(f.view(), n.view(), selected.span(), *stream_)),
                values);
      const auto counted = poisoned<std::int32_t>(size);
      EXPECT_EQ(front(counted, select_flagged(f.view(), counted.span(), *stream_)), places);
      const auto parted = poisoned<std::int32_t>(size);
      EXPECT_EQ(partition_flagged(f.view(), parted.span(), *stream_),
                static_cast<std::int64_t>(places.size()));
      places.insert(places.end(), others.rbegin(), others.rend());
      EXPECT_EQ(down(parted), places);
    }
  }
  EXPECT_EQ(select_flagged({}, {}, {}, *stream_), 0);
  EXPECT_EQ(select_flagged({}, {}, *stream_), 0);
  EXPECT_EQ(partition_flagged({}, {}, *stream_), 0);
}

TEST_F(DeviceAlgorithms, SumsByKeyFollowTheRunsAlsoUnderASanitizer) {
  for (const std::int64_t size : kSizes) {
    auto keys = drawn<std::uint64_t>(size, std::max<std::int64_t>(size / 5, 1), 8);
    for (std::uint64_t& key : keys) key += std::uint64_t{1} << 40;
    std::ranges::sort(keys);
    if (size > 3) std::swap(keys.front(), keys.back());  // equal keys in two runs have two sums
    const auto values = drawn<std::uint32_t>(size, 1000, 9);
    std::vector<std::uint64_t> expected_keys;
    std::vector<std::uint32_t> expected_sums;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i == 0 || keys[i] != keys[i - 1]) {
        expected_keys.push_back(keys[i]);
        expected_sums.push_back(0);
      }
      expected_sums.back() += values[i];
    }
    const auto k = up(keys);
    const auto v = up(values);
    const auto unique = poisoned<std::uint64_t>(size);
    const auto sums = poisoned<std::uint32_t>(size);
    const auto runs = poisoned<std::int32_t>(1);
    sum_by_key(k.view(), v.view(), unique.span(), sums.span(), runs.data(), *stream_);
    const auto count = static_cast<std::size_t>(down(runs)[0]);
    ASSERT_EQ(count, expected_keys.size()) << size;
    auto found_keys = down(unique);
    auto found_sums = down(sums);
    found_keys.resize(count);
    found_sums.resize(count);
    EXPECT_EQ(found_keys, expected_keys) << size;
    EXPECT_EQ(found_sums, expected_sums) << size;
  }
}

}  // namespace
}  // namespace trireme
