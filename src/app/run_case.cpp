// SPDX-License-Identifier: BSD-3-Clause
// Case -> LoadedSystem -> for each kernel: operator, solves, measurements -> CaseOutcome.
#include "app/run_case.hpp"

#include <string>

#include "app/case_runs.hpp"
#include "app/figures/build_facts.hpp"
#include "app/figures/comparisons.hpp"
#include "app/figures/memory.hpp"
#include "app/figures/pattern_picture.hpp"
#include "app/rank_zero.hpp"
#include "app/requested_kernels.hpp"
#include "app/system/loaded_system.hpp"
#include "distributed/matrix_look.hpp"
#include "petsc/ksp/known_names.hpp"
#include "petsc/session.hpp"

namespace trireme {
namespace {

// The next run of this system can weigh by the iterations of this one.
void keep_iterations(const Case& c, LoadedSystem& system, const CaseOutcome& outcome) {
  if (!system.products_decided() || outcome.runs.empty()) return;
  const RunOutcome& run = outcome.runs.front();
  if (run.converged && run.iterations != system.earlier_iterations())
    system.cached().cache.keep_number(iterations_key(c, outcome), run.iterations);
}

void compare(MPI_Comm comm, const LoadedSystem& system, const RankZero& rank_zero,
             CaseOutcome& outcome) {
  if (bandwidth_matters(outcome.problem)) {
    rank_zero.step_begins("measuring memory bandwidth");
    compare_with_bandwidth(comm, outcome);
  } else {
    measure_in_cache(comm, outcome);
  }
  compare_with_baseline(outcome.runs, system.matrix());
  compare_precisions(outcome.runs);
}

void note_unused_options(CaseOutcome& outcome) {
  for (const std::string& option : PetscSession::unused_options())
    for (RunOutcome& run : outcome.runs)
      run.notes.push_back("PETSc option " + option + " was not used; is it misspelt?");
}

}  // namespace

void check_case(MPI_Comm comm, const Case& c) {
  const GpusOfRanks gpus = gpus_for(comm, c);
  select_gpu(comm, requested_kernels(c, gpus), gpus);
  require_known_names(comm, c.solver);
}

CaseOutcome run_case(MPI_Comm comm, const Case& c, CaseObserver* observer,
                     InterruptGuard* interrupts) {
  StartClock clock;
  const std::int64_t resident_before = resident_bytes();
  const RankZero rank_zero(comm, observer);
  CaseOutcome outcome;
  outcome.date = time_now();
  LoadedSystem system(comm, c, rank_zero, clock, outcome);
  run_kernels(comm, c, system, rank_zero, clock, resident_before, interrupts, outcome);
  keep_iterations(c, system, outcome);
  if (!system.moved()) outcome.pattern = picture_of(*system.matrix());
  outcome.case_text = c.text;
  if (const MatrixLook* look = known_look(*system.matrix()))
    outcome.problem.looks = words_of(*look);
  compare(comm, system, rank_zero, outcome);
  note_unused_options(outcome);
  return outcome;
}

}  // namespace trireme
