// SPDX-License-Identifier: BSD-3-Clause
// A random permutation of the numbers 0 to size - 1 that needs no memory, and its inverse.
//
// The permutation is a Feistel network on the smallest power of two that is not below size. A
// number that leaves the range goes through the network again until it is inside (cycle walking:
// Black and Rogaway, CT-RSA 2002, section 5).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/split_mix.hpp"

namespace trireme {

class RandomPermutation {
 public:
  RandomPermutation(std::int64_t size, std::uint64_t seed)
      : size_(static_cast<std::uint64_t>(size)), key_(mix_bits(seed + kSplitMixStep)) {
    const int bits = std::max(2, static_cast<int>(std::bit_width(size_ - 1)));
    low_bits_ = bits / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  }

  // The image of `number`, which is in [0, size).
  std::int64_t operator()(std::int64_t number) const {
    auto at = static_cast<std::uint64_t>(number);
    do {
      for (int round = 0; round < kRounds; ++round)
        at = low_changed(high_changed(at, round), round);
    } while (at >= size_);
    return static_cast<std::int64_t>(at);
  }
  std::int64_t inverse(std::int64_t image) const {
    auto at = static_cast<std::uint64_t>(image);
    do {
      for (int round = kRounds; round-- > 0;) at = high_changed(low_changed(at, round), round);
    } while (at >= size_);
    return static_cast<std::int64_t>(at);
  }

 private:
  static constexpr int kRounds = 3;

  // Each of these functions is its own inverse.
  std::uint64_t high_changed(std::uint64_t at, int round) const {
    return at ^ (hash(at & low_mask_, 2 * round) & high_mask_) << low_bits_;
  }
  std::uint64_t low_changed(std::uint64_t at, int round) const {
    return at ^ (hash(at >> low_bits_, 2 * round + 1) & low_mask_);
  }
  std::uint64_t hash(std::uint64_t half, int which) const {
    return split_mix(half, key_ + mix_bits(static_cast<std::uint64_t>(which)));
  }

  std::uint64_t size_, key_;
  int low_bits_;
  std::uint64_t low_mask_, high_mask_;
};

}  // namespace trireme
