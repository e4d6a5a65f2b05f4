// SPDX-License-Identifier: BSD-3-Clause
// Scratch memory for algorithms that say how much they need, as CUB's do.
#pragma once

#include <algorithm>
#include <cstddef>

#include "device/buffer.hpp"
#include "device/check.hpp"

namespace trireme {

// algorithm(scratch, bytes), twice: with null it sets `bytes`, then it runs in `stream`.
template <class Algorithm>
void with_scratch(StreamRef stream, Algorithm&& algorithm) {
  std::size_t bytes = 0;
  cuda_check(algorithm(nullptr, bytes));
  const ScratchBuffer<std::byte> scratch(std::max<std::size_t>(bytes, 1), stream);
  cuda_check(algorithm(scratch.data(), bytes));
}

}  // namespace trireme
