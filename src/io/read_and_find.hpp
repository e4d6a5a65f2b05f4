// SPDX-License-Identifier: BSD-3-Clause
// Reads numbers, hashes them and looks for bad ones while they are in the cache of the thread that
// read them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "io/hash_sums.hpp"
#include "io/hdf5.hpp"

namespace trireme {

// Reads as Dataset::read() does. `bad` is a function object that the compiler can inline. Returns
// the position of the first number for which `bad` holds, counted from the first number that is
// read; empty where there is none. `hash` becomes sum_of_hashes() of the numbers at their positions
// in the dataset. Each thread calls `take(at, numbers)` for the pieces that it has read.
template <class T, class Bad, class Take>
std::optional<std::int64_t> read_and_find(const hdf5::Dataset& dataset, std::int64_t first,
                                          std::int64_t count, T* into, Bad bad, std::uint64_t& hash,
                                          const Take& take) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t together = 2048;  // numbers, which stay in the first-level cache
  // As wide as the numbers, so that the loop has SIMD instructions.
  using Counter = std::conditional_t<sizeof(T) == sizeof(std::int64_t), std::int64_t, std::int32_t>;
  std::atomic<std::int64_t> lowest = none;
  std::atomic<std::uint64_t> sum = 0;
  dataset.read(first, count, into, [&](std::int64_t at, std::span<const T> numbers) {
    take(at, numbers);
    std::uint64_t of_piece = 0;
    Counter found_here = 0;
    for (std::int64_t from = 0; from < std::ssize(numbers); from += together) {
      const auto part = numbers.subspan(from, std::min(together, std::ssize(numbers) - from));
      for (const T number : part) found_here += bad(number) ? 1 : 0;
      of_piece += sum_of_hashes(first + at + from, part);
    }
    sum += of_piece;
    if (found_here == 0) return;
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
