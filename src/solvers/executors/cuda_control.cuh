// SPDX-License-Identifier: BSD-3-Clause
// The data that a GPU keeps for a solve beside the vectors: scalars, flags and the norm history.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::solvers {

// Lives in device memory.
struct Control {
  State state;
  std::int64_t published = 0;  // the history holds the norms of iterations 0 .. published - 1
  std::int32_t stop = 0;       // the host sets it to 1: the loop ends at the next iteration
  std::int64_t serial = 0;     // the number of the solve that the other members belong to
};

// The norms that the persistent kernel leaves with its result.
inline constexpr std::int64_t kResultNorms = 512;

// The result that the persistent kernel writes into the host's memory. The kernel writes `serial`
// last: when the host sees it, the other members are complete.
struct DeviceResult {
  State state;
  std::int64_t published = 0;
  double norms[kResultNorms] = {};  // the last ones, that of iteration k at k % kResultNorms
  std::int64_t serial = 0;
};

// The norms, in a ring in device memory that the host empties while the loop runs.
struct History {
  double* norms = nullptr;
  std::int64_t capacity = 0;  // a power of two
};

// Adds the norm of `s` to the history; called by one thread. The count `published` is updated only
// on every 64th iteration and at the end of the loop, so that the memory fence is rare.
__device__ inline void publish(Control& control, const History& history, const State& s) {
  history.norms[s.iterations & (history.capacity - 1)] = s.norm;
  if (running(s) && s.iterations % 64 != 0) return;
  __threadfence();
  *static_cast<volatile std::int64_t*>(&control.published) = s.iterations + 1;
}

}  // namespace trireme::solvers
