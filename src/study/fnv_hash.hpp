// SPDX-License-Identifier: BSD-3-Clause
// A hash of texts that is the same on every machine: FNV-1a, 64 bits.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace trireme::study {

class FnvHash {
 public:
  // Adds a text and its end, so that "ab", "c" differs from "a", "bc".
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0);
  }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void add_byte(unsigned char byte) {
    constexpr std::uint64_t prime = 0x100000001b3;
    state_ = (state_ ^ byte) * prime;
  }
  std::uint64_t state_ = 0xcbf29ce484222325;  // FNV's offset basis
};

}  // namespace trireme::study
