// SPDX-License-Identifier: BSD-3-Clause
// Reads numbers, hashes them and looks for bad ones while they are in the cache of the thread that read them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "io/hash_sums.hpp"
#include "io/hdf5.hpp"

namespace trireme {

// Reads as Dataset::read() does. Returns the position of the first number for which `bad` holds,
// counted from the first number that is read; empty where there is none. `hash` becomes
// sum_of_hashes() of the numbers at their positions in the dataset. Each thread calls
// `take(at, numbers)` for the pieces that it has read.
template <class T, class Bad, class Take>
std::optional<std::int64_t> read_and_find(const hdf5::Dataset& dataset, std::int64_t first,
                                          std::int64_t count, T* into, Bad bad, std::uint64_t& hash,
                                          const Take& take) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> lowest = none;
  std::atomic<std::uint64_t> sum = 0;
  dataset.read(first, count, into, [&](std::int64_t at, std::span<const T> numbers) {
    take(at, numbers);
    sum += sum_of_hashes(first + at, numbers);
    bool any = false;
    for (const T number : numbers) any |= bad(number);
    if (!any) return;
    const std::int64_t found = at + (std::ranges::find_if(numbers, bad) - numbers.begin());
    std::int64_t known = lowest.load();
    while (found < known && !lowest.compare_exchange_weak(known, found)) {
    }
  });
  hash = sum;
  if (lowest == none) return std::nullopt;
  return lowest;
}

}  // namespace trireme
