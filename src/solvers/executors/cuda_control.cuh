// SPDX-License-Identifier: BSD-3-Clause
// What a GPU keeps of a solve beside its vectors, and how a scalar step is applied there.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

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

template <class Step, class = void>
struct HasTail : std::false_type {};
template <class Step>
struct HasTail<Step, std::enable_if_t<Step::has_tail>> : std::true_type {};

// Applies the step to `s` and says whether an iteration has ended.
template <class Step>
TRIREME_HD bool apply(State& s, const Step& step, const double* sums, bool stop_asked) {
  const std::int64_t before = s.iterations;
  const bool first = !s.started;
  step(s, sums);
  if (!Step::ends_iteration || (!first && s.iterations == before)) return false;
  if (stop_asked && s.running) {
    stop(s, Reason::interrupted);
    if (!HasTail<Step>::value) s.live = false;
  }
  return true;
}

// By one thread. The host may read on every 64th iteration only, so that the fence is rare.
__device__ inline void publish(Control& control, const History& history, const State& s) {
  history.norms[s.iterations & (history.capacity - 1)] = s.norm;
  if (s.running && s.iterations % 64 != 0) return;
  __threadfence();
  *static_cast<volatile std::int64_t*>(&control.published) = s.iterations + 1;
}

}  // namespace trireme::solvers
