// SPDX-License-Identifier: BSD-3-Clause
// The hash of numbers and arrays in a key of the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trireme {

// XXH128 of everything that was added, and of its order and sizes. All threads read an array.
class ContentHash {
 public:
  template <class Range>
  ContentHash& add(const Range& values) {
    return add_bytes(std::as_bytes(std::span(values)));
  }
  std::string text() const;  // 32 hexadecimal digits

 private:
  ContentHash& add_bytes(std::span<const std::byte> bytes);

  std::vector<std::uint64_t> words_;  // sizes of arrays, and hashes of their parts
};

}  // namespace trireme
