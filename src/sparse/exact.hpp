// SPDX-License-Identifier: BSD-3-Clause
// Tells whether FP32 represents values exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace trireme {

// True where FP32 represents every value exactly. A NaN counts as not exact. The function stops
// soon after the first value that is not exact.
template <class Value>
bool exact_in_float(std::span<const Value> values) {
  constexpr std::size_t kBlock = 1 << 20;
  bool exact = true;
  for (std::size_t begin = 0; exact && begin < values.size(); begin += kBlock) {
    const std::size_t end = std::min(values.size(), begin + kBlock);
#pragma omp parallel for schedule(static) reduction(&& : exact)
    for (std::size_t k = begin; k < end; ++k)
      exact = exact && static_cast<Value>(static_cast<float>(values[k])) == values[k];
  }
  return exact;
}

}  // namespace trireme
