// SPDX-License-Identifier: BSD-3-Clause
// Random and poisoned vectors for tests; they are the same on every platform.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/array.hpp"
#include "base/half.hpp"
#include "base/split_mix.hpp"
#include "support/arrays.hpp"

namespace trireme::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * kSplitMixStep + 1) {}

  std::uint64_t next() {  // splitmix64
    return mix_bits(state_ += kSplitMixStep);
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  // A floating-point value is uniform in (-1, 1) and uses all bits of its type, so that rounding a
  // double to FP32 changes it. An integer lies in [-9, 9].
  template <class Value>
  Value value() {
    if constexpr (std::is_integral_v<Value>)
      return static_cast<Value>(below(19) - 9);
    else if constexpr (std::is_same_v<Value, double>)
      return static_cast<double>(next() >> 11) * 0x1p-52 - 1.0 + 0x1p-53;
    else
      return static_cast<Value>(static_cast<float>(next() >> 40) * 0x1p-23f - 1.0f + 0x1p-24f);
  }

 private:
  std::uint64_t state_;
};

// The values are those of Random::value().
template <class Value>
Array<Value> random_vector(std::int64_t size, std::uint64_t seed = 1);

// Values that a kernel must overwrite: NaN, or for integers a value that no product of the tests
// has.
template <class Value>
Array<Value> poisoned_vector(std::int64_t size);

}  // namespace trireme::test
