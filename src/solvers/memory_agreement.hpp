// SPDX-License-Identifier: BSD-3-Clause
// Allocations that succeed on all processes or fail on all of them.
#pragma once

#include <new>

#include "base/error.hpp"

namespace trireme::solvers {

// Runs allocate(), and returns sum(n), the sum over the processes of how often memory was lacking:
// 0 where every process has got its memory. Other errors of allocate() go through. Collective as
// `sum` is.
template <class Allocate, class SumOverProcesses>
double processes_without_memory(const Allocate& allocate, const SumOverProcesses& sum) {
  double failures = 0;
  try {
    allocate();
  } catch (const std::bad_alloc&) {
    failures = 1;
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    failures = 1;
  }
  return sum(failures);
}

}  // namespace trireme::solvers
