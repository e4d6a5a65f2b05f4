// SPDX-License-Identifier: BSD-3-Clause
// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a generator whose numbers do not need each
// other, so that the random number of a row does not depend on the process that makes it.
#pragma once

#include <cstdint>

namespace trireme {

inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15u;

// The finaliser: a bijection of 64 bits.
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Number `counter` of the sequence of `seed`, from 0.
constexpr std::uint64_t split_mix(std::uint64_t counter, std::uint64_t seed) {
  return mix_bits((counter + 1) * kSplitMixStep + seed);
}

// In [0, 1), from 53 of the bits.
constexpr double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace trireme
