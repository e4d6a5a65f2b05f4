// SPDX-License-Identifier: BSD-3-Clause
// IEEE binary16 on the host: storage and conversion. CUDA code reads the bits as __half.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace trireme {

struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(to_bits(value)) {}

  explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t fraction = bits & 0x3ffu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  }

 private:
  // Rounds to nearest, ties to even; overflow becomes infinity.
  static std::uint16_t to_bits(float value) {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16) & 0x8000u;
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);  // NaN
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {  // subnormal or zero: adding 0.5 makes the FPU round
      const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    const std::uint32_t rounded = magnitude + 0xfffu + odd - (112u << 23);
    return static_cast<std::uint16_t>(sign | (rounded >> 13));
  }
};

template <class Value>
long double to_long_double(Value value) {
  if constexpr (std::is_same_v<Value, Half>)
    return static_cast<float>(value);
  else
    return value;
}

}  // namespace trireme
