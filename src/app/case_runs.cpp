// SPDX-License-Identifier: BSD-3-Clause
#include "app/case_runs.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/memory.hpp"
#include "app/kept/cached_hierarchies.hpp"
#include "app/kept/cached_matchings.hpp"
#include "app/kept/cached_order.hpp"
#include "app/kept/solution_file.hpp"
#include "app/ladder/case_rungs.hpp"
#include "app/ladder/climb.hpp"
#include "app/requested_kernels.hpp"
#include "app/run_kernel.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

void require_one_kernel(const std::vector<KernelChoice>& kernels) {
  if (kernels.size() > 1)
    fail(ExitCode::usage,
         "--resume goes on with one kernel in one precision, and this case compares {}; name one "
         "by --kernel and --set precision=",
         kernels.size());
}

// Calls run(), and drops what it found in the cache where it failed with it, so that no entry makes
// every run fail. `again`: after a breakdown, which costs little time, the run is repeated without
// it. Collective.
template <class Run>
KernelRun run_without_bad_entries(MPI_Comm comm, SharedCache& cache, bool again, Run&& run) {
  const auto drop = [&] { cache.reject_found_parts("led to a solve that failed"); };
  try {
    KernelRun first = run();
    if (first.outcome.converged || !cache.has_found_parts() || InterruptGuard::asked_anywhere(comm))
      return first;
    drop();
    if (!again || first.outcome.exit_code != ExitCode::breakdown) return first;
  } catch (const AgreedError& error) {
    if (error.code() != ExitCode::breakdown || !cache.has_found_parts()) throw;
    drop();
    if (!again) throw;
  }
  return run();
}

// What the runs share.
class CaseRuns {
 public:
  CaseRuns(MPI_Comm comm, const Case& c, LoadedSystem& system, const RankZero& rank_zero,
           StartClock& clock, CaseOutcome& outcome)
      : comm_(comm),
        case_(c),
        system_(system),
        cache_(system.cached().cache),
        rank_zero_(rank_zero),
        clock_(clock),
        outcome_(outcome),
        matchings_(comm, cache_, matching_key(outcome), matching_key_of_blocks()),
        planned_(plan_runs(system.requested(), *system.matrix(), [&](const KernelChoice& kernel) {
          return cache_.find_decision(key_of_choice(kernel), [&](const KernelDecision& decision) {
            return can_run(decision, c, kernel);
          });
        })) {
    if (c.report.resume) require_one_kernel(system.requested());
  }

  void run(std::int64_t resident_before, InterruptGuard* interrupts) {
    resident_before_ = resident_before;
    load_peak_ = peak_resident_bytes();
    make_ladder();
    std::vector<std::string> notes = system_.notes();
    if (!system_.cached().note.empty()) notes.push_back(system_.cached().note);
    clock_.lap(&StartSeconds::check);
    if (interrupts) interrupts->begin();
    for (std::size_t k = 0; k < planned_.size(); ++k) {
      if (k > 0 && InterruptGuard::asked_anywhere(comm_)) {
        outcome_.not_run.push_back(name_of(planned_[k]));
        continue;
      }
      if (k > 0) system_.begin_again();
      if (auto result = run_one(k)) keep(std::move(*result), k, notes);
    }
  }

 private:
  bool compared() const { return planned_.size() > 1; }

  CacheKey key_of_choice(const KernelChoice& kernel) const {
    return decision_key(case_, kernel, outcome_, system_.matrix()->row_starts);
  }

  CacheKey matching_key_of_blocks() const {
    return key_of(kMatchingKind, outcome_, system_.matrix()->row_starts)
        .add("values", outcome_.values_hash);
  }

  // Of a case that names its method, one rung.
  void make_ladder() {
    if (!case_.solver.chooses_method()) {
      const Rung named{
          .method = case_.solver.method, .preconditioner = case_.solver.preconditioner, .why = {}};
      return void(ladder_.emplace(comm_, std::vector<Rung>{named}, LadderOutcome{}, DirectOffer()));
    }
    const Stopwatch watch;
    const MatrixLook& seen = look_at(*system_.matrix());
    const std::vector<Rung> rungs = rungs_for(case_, seen);
    DirectOffer offer;
    if (std::ranges::any_of(rungs, &Rung::is_direct))
      offer = DirectOffer(
          [this, symmetric = seen.symmetric()] {
            return forecast_direct(system_.matrix(), symmetric, system_.begins_on_gpu());
          },
          expected_forecast_seconds(*system_.matrix(), system_.begins_on_gpu()),
          system_.steps() != nullptr);
    ladder_.emplace(comm_, rungs,
                    LadderOutcome{.seen = words_of(seen),
                                  .look_seconds = max_over_ranks(comm_, watch.seconds()),
                                  .rungs = {}},
                    std::move(offer));
    if (case_.report.resume && !compared() && !system_.steps()) {
      const SavedRunFile file(case_.report.directory);
      for (std::size_t k = 0; k < rungs.size(); ++k) {
        const Case c = case_of(case_, rungs[k]);
        if (!file.is_of(comm_, with_settings_of(c, system_.identity()))) continue;
        ladder_->begin_at(k, "the run that is resumed was there");
        break;
      }
    } else if (const auto known = cache_.find_number(rung_key(case_, outcome_));
               known && *known > 0 && *known < std::ssize(rungs)) {
      ladder_->begin_at(static_cast<std::size_t>(*known), "an earlier run has ended with it");
    }
  }

  SolveContext context(const Case& c, const RungTry& rung) {
    const auto key = [this](std::string_view kind) {
      return key_of(kind, outcome_, system_.matrix()->row_starts);
    };
    std::optional<CheckpointSettings> checkpoints;
    if (!compared() && !system_.steps())
      checkpoints = {.file = SavedRunFile(case_.report.directory),
                     .identity = with_settings_of(c, system_.identity()),
                     .rows = system_.rows_of_file(),
                     .interval = case_.report.checkpoint,
                     .resume = case_.report.resume && rung.first,
                     .moved = system_.moved()};
    return {.spec = c,
            .problem = system_.problem(),
            .matrix = system_.matrix(),
            .plain = system_.plain(),
            .moved = system_.moved(),
            .checkpoints = checkpoints,
            .matrix_exponent = system_.matrix_exponent(),
            .steps = system_.steps(),
            .load_peak_bytes = load_peak_,
            .resident_before = resident_before_,
            .clock = &clock_,
            .order =
                [this, key](Ordering ordering, Device device) {
                  return cached_order(cache_, key(kOrderKind), system_.matrix(), ordering, device);
                },
            // Runs that are compared set up alike.
            .hierarchies = compared() ? multigrid::HierarchyStore()
                                      : cached_hierarchies(cache_, key(kHierarchyKind)),
            .matching = {.store = compared() ? nullptr : &matchings_},
            .on_step = rank_zero_.sequence_steps(),
            .on_part = [this](const std::string& text) { rank_zero_.step_begins(text); },
            .watch = rung.watch,
            .from = system_.steps() ? std::span<const Array<double>>() : rung.from,
            .tried = rung.tried,
            .analysis = rung.analysis,
            .climbs = case_.solver.chooses_method(),
            .last = rung.last};
  }

  // Empty where the kernel refuses and another one has run or will.
  std::optional<KernelRun> run_one(std::size_t k) {
    const int number = static_cast<int>(k);
    const std::string name = name_of(planned_[k]);
    rank_zero_.step_begins("building " + name);
    rank_zero_.run_begins(number, name);
    Steps* const steps = system_.steps();
    const auto climb_on = [&](const RungTry& rung) {
      const Case c = case_of(case_, rung.rung);
      if (!rung.first) {
        rank_zero_.step_begins(fmt::format("going on with {}", c.solver.method));
        if (steps) steps->take_file();
        system_.begin_again();
      }
      if (steps && case_.report.solution) steps->write_to(case_.report.directory / "solution.h5");
      const SolveContext context = this->context(c, rung);
      return run_without_bad_entries(comm_, cache_, !steps, [&] {
        return run_kernel(context, planned_[k], rank_zero_.iterations_of(number));
      });
    };
    try {
      KernelRun run = ladder_->climb(climb_on);
      if (const auto found = ladder_->found(); found && case_.solver.chooses_method()) {
        if (*found > 0 || ladder_->begins_at() > 0)
          cache_.keep_number(rung_key(case_, outcome_), static_cast<std::int64_t>(*found));
        ladder_->begin_at(*found, "the kernel before has ended with it");
      }
      return run;
    } catch (const AgreedError& error) {
      const bool last = k + 1 == planned_.size();
      if (error.code() != ExitCode::resource || (last && outcome_.runs.empty())) throw;
      outcome_.refused.push_back({name, error.what()});
      if (steps) steps->take_file();
      return std::nullopt;
    }
  }

  void keep(KernelRun run, std::size_t k, const std::vector<std::string>& notes) {
    Steps* const steps = system_.steps();
    if (run.decision)
      cache_.keep_decision(key_of_choice(system_.requested()[k]), *run.decision,
                           run.outcome.seconds.tune);
    if (system_.moved() && !steps)
      for (Array<double>& x : run.solutions) x = system_.moved()->back(x);
    if (case_.report.solution)
      write_solution(comm_, case_, run, system_.rows_of_file(), compared(),
                     steps ? steps->take_file() : nullptr);
    for (std::string& note : cache_.take_notes()) run.outcome.notes.push_back(std::move(note));
    run.outcome.notes.insert(run.outcome.notes.begin(), notes.begin(), notes.end());
    if (outcome_.runs.empty()) outcome_.start = clock_.with_first_run(run.outcome.seconds);
    outcome_.runs.push_back(std::move(run.outcome));
  }

  MPI_Comm comm_;
  const Case& case_;
  LoadedSystem& system_;
  SharedCache& cache_;
  const RankZero& rank_zero_;
  StartClock& clock_;
  CaseOutcome& outcome_;
  CachedMatchings matchings_;
  std::vector<PlannedRun> planned_;
  std::optional<Ladder> ladder_;
  std::int64_t resident_before_ = 0, load_peak_ = 0;
};

}  // namespace

void run_kernels(MPI_Comm comm, const Case& c, LoadedSystem& system, const RankZero& rank_zero,
                 StartClock& clock, std::int64_t resident_before, InterruptGuard* interrupts,
                 CaseOutcome& outcome) {
  CaseRuns(comm, c, system, rank_zero, clock, outcome).run(resident_before, interrupts);
}

}  // namespace trireme
