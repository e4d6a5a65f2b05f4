// SPDX-License-Identifier: BSD-3-Clause
// What a GPU keeps of a solve beside its vectors, and how a scalar step is applied there.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::solvers {

struct Control {
  State state;
  std::int64_t published = 0;  // history holds the norms of iterations 0 .. published - 1
  std::int32_t stop = 0;       // written by the host: end at the next iteration
  std::int64_t serial = 0;     // of the solve that all this belongs to
};

// What a kernel that does the whole solve leaves in the host's memory; `serial` comes last.
struct DeviceResult {
  State state;
  std::int64_t published = 0;
  std::int64_t serial = 0;
};

// The norms, in a ring that the host empties while the loop runs.
struct History {
  double* norms = nullptr;
  std::int64_t capacity = 0;  // a power of two
};

// By one thread. The host may read on every 64th iteration only, so that the fence is rare.
__device__ inline void publish(Control& control, const History& history, const State& s) {
  history.norms[s.iterations & (history.capacity - 1)] = s.norm;
  if (running(s) && s.iterations % 64 != 0) return;
  __threadfence();
  *static_cast<volatile std::int64_t*>(&control.published) = s.iterations + 1;
}

}  // namespace trireme::solvers
