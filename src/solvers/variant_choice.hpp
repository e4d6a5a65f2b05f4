// SPDX-License-Identifier: BSD-3-Clause
// Which variant of CG runs on several processes: single-reduction CG saves one sum over the
// processes per iteration, and works longer on its vectors. Both times are measured.
#pragma once

#include <cstdint>

#include "solvers/host_solver.hpp"

namespace trireme::solvers {

// Times in seconds.
struct VariantTimes {
  double sum = 0;  // of one sum over the processes
  // Of the work on vectors in one iteration, without the product and the preconditioner.
  double classic = 0;
  double single_reduction = 0;
};

// Fills in `classic` and `single_reduction` for this process's rows, on vectors of its own that are
// freed afterwards. Beyond kTimedRows rows, so many are timed, and the times are scaled. With
// `jacobi`, the passes read a diagonal.
inline constexpr std::int64_t kTimedRows = std::int64_t{1} << 19;
VariantTimes time_vector_work(std::int64_t rows, bool jacobi);

// The time of a sum of as many values as single-reduction CG adds up. Collective over the system's
// processes.
double time_of_sum(HostSystem& system);

// The variant whose iteration takes less time. Processes that have agreed on the times decide
// alike.
inline Variant faster_variant(const VariantTimes& times) {
  return times.single_reduction - times.classic < times.sum ? Variant::single_reduction
                                                            : Variant::classic;
}

}  // namespace trireme::solvers
