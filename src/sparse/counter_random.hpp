// SPDX-License-Identifier: BSD-3-Clause
// Random numbers by counting: each is a hash of (seed, purpose, row, position), none depends on
// those drawn elsewhere, so rows can be made in any order, by any rank.
#pragma once

#include <cstdint>

namespace trireme {

// The finaliser of splitmix64: a bijection of 64 bits.
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// What the numbers are for: each purpose has a stream of its own.
enum class Purpose : std::uint64_t { columns = 1, lengths, values, shuffle, splits, positions };

class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, Purpose purpose, std::uint64_t row)
      : state_(
            mix_bits(mix_bits(seed + kStep * static_cast<std::uint64_t>(purpose)) + kStep * row)) {}

  std::uint64_t bits() { return mix_bits(state_ += kStep); }
  // The number at a position, without drawing.
  std::uint64_t bits_at(std::uint64_t position) const {
    return mix_bits(state_ + kStep * (position + 1));
  }
  // In [0, 1).
  double uniform() { return to_unit(bits()); }
  // In [0, bound), bound > 0.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(bound));
  }
  bool chance(double probability) { return uniform() < probability; }

  static double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

}  // namespace trireme
