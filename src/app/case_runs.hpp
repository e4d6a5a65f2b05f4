// SPDX-License-Identifier: BSD-3-Clause
// The runs of a case: its kernels one after another, with what each finds and leaves.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "app/figures/start_clock.hpp"
#include "app/rank_zero.hpp"
#include "app/system/loaded_system.hpp"
#include "config/case.hpp"
#include "parallel/interrupt.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Adds to outcome.runs, refused and not_run, writes the solutions, and keeps in the cache what
// later runs can use. `resident_before`: bytes of this rank before it read the system. `interrupts`
// may be null. Throws what run_case() documents. Collective.
void run_kernels(MPI_Comm comm, const Case& c, LoadedSystem& system, const RankZero& rank_zero,
                 StartClock& clock, std::int64_t resident_before, InterruptGuard* interrupts,
                 CaseOutcome& outcome);

}  // namespace trireme
