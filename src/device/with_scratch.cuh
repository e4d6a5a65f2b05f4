// SPDX-License-Identifier: BSD-3-Clause
// Scratch memory for algorithms that tell how much of it they need, as those of CUB do.
#pragma once

#include <algorithm>
#include <cstddef>

#include "device/buffer.hpp"
#include "device/check.hpp"

namespace trireme {

// Calls algorithm(scratch, bytes) twice: with a null `scratch` it sets `bytes`, then it runs in
// `stream`.
template <class Algorithm>
void with_scratch(StreamRef stream, Algorithm&& algorithm) {
  std::size_t bytes = 0;
  cuda_check(algorithm(nullptr, bytes));
  const ScratchBuffer<std::byte> scratch(std::max<std::size_t>(bytes, 1), stream);
  cuda_check(algorithm(scratch.data(), bytes));
}

}  // namespace trireme
