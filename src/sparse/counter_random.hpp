// SPDX-License-Identifier: BSD-3-Clause
// Random numbers by counting. Each number is a hash of (seed, purpose, row, position) and does not
// depend on numbers drawn elsewhere, so that any rank can make any rows in any order.
#pragma once

#include <cstdint>

#include "base/split_mix.hpp"

namespace trireme {

// What the numbers are used for. Each purpose has a separate stream of numbers.
enum class Purpose : std::uint64_t { columns = 1, lengths, values, shuffle, splits, positions };

class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, Purpose purpose, std::uint64_t row)
      : state_(mix_bits(mix_bits(seed + kSplitMixStep * static_cast<std::uint64_t>(purpose)) +
                        kSplitMixStep * row)) {}

  std::uint64_t bits() { return mix_bits(state_ += kSplitMixStep); }
  // The number at a position. The stream does not advance.
  std::uint64_t bits_at(std::uint64_t position) const {
    return mix_bits(state_ + kSplitMixStep * (position + 1));
  }
  // Uniform in [0, 1).
  double uniform() { return to_unit(bits()); }
  // Uniform in [0, bound) for bound > 0.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(bound));
  }
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace trireme
