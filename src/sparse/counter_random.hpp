// SPDX-License-Identifier: BSD-3-Clause
// Random numbers by counting: each is a hash of (seed, purpose, row, position), none depends on
// those drawn elsewhere, so rows can be made in any order, by any rank.
#pragma once

#include <cstdint>

#include "base/split_mix.hpp"

namespace trireme {

// What the numbers are for: each purpose has a stream of its own.
enum class Purpose : std::uint64_t { columns = 1, lengths, values, shuffle, splits, positions };

class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, Purpose purpose, std::uint64_t row)
      : state_(mix_bits(mix_bits(seed + kSplitMixStep * static_cast<std::uint64_t>(purpose)) +
                        kSplitMixStep * row)) {}

  std::uint64_t bits() { return mix_bits(state_ += kSplitMixStep); }
  // The number at a position, without drawing.
  std::uint64_t bits_at(std::uint64_t position) const {
    return mix_bits(state_ + kSplitMixStep * (position + 1));
  }
  // In [0, 1).
  double uniform() { return to_unit(bits()); }
  // In [0, bound), bound > 0.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(bound));
  }
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace trireme
