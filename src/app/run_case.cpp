// SPDX-License-Identifier: BSD-3-Clause
// Case -> Problem -> for each kernel: operator, solves, measurements -> CaseOutcome.
#include "app/run_case.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cached_hierarchies.hpp"
#include "app/cached_order.hpp"
#include "app/case_cache.hpp"
#include "app/comparisons.hpp"
#include "app/gpu_warm_up.hpp"
#include "app/machine_description.hpp"
#include "app/memory.hpp"
#include "app/pattern_picture.hpp"
#include "app/products_ahead.hpp"
#include "app/requested_kernels.hpp"
#include "app/row_distribution.hpp"
#include "app/run_identity.hpp"
#include "app/run_kernel.hpp"
#include "app/solution_file.hpp"
#include "app/start_clock.hpp"
#include "app/symmetry.hpp"
#include "app/system_scale.hpp"
#include "config/steps.hpp"
#include "device/driver.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "io/fingerprint.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/block_size.hpp"
#include "petsc/index_size.hpp"
#include "petsc/known_names.hpp"
#include "petsc/near_nullspace.hpp"
#include "petsc/session.hpp"
#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

// Hands everything on to the observer on rank 0, and nothing on the other ranks.
class RankZero {
 public:
  RankZero(MPI_Comm comm, CaseObserver* observer)
      : observer_(rank_of(comm) == 0 ? observer : nullptr) {}
  void step_begins(const std::string& text) const {
    if (observer_) observer_->step_begins(text);
  }
  void run_begins(int run, const std::string& kernel) const {
    if (observer_) observer_->run_begins(run, kernel);
  }
  std::function<void(std::int64_t, std::int64_t)> sequence_steps() const {
    if (!observer_) return {};
    return [observer = observer_](std::int64_t step, std::int64_t steps) {
      observer->sequence_step(step, steps);
    };
  }
  IterationCallback iterations_of(int run) const {
    if (!observer_) return {};
    return [observer = observer_, run](std::int64_t iteration, double residual) {
      observer->iteration(run, iteration, residual);
    };
  }

 private:
  CaseObserver* observer_;
};

// A case for CPUs does not wait for the driver of a GPU. Collective.
GpusOfRanks gpus_for(MPI_Comm comm, const Case& c) {
  return c.device == Device::cpu ? GpusOfRanks() : gpus_of_ranks(comm);
}

// Whether this process takes a GPU for granted until it has read the problem: the driver starts as
// slowly as millions of rows are read. Several ranks agree on their GPUs before they read.
bool expects_gpu(MPI_Comm comm, const Case& c) {
  return size_of(comm) == 1 && c.device != Device::cpu && driver_is_visible();
}

void require_one_kernel(const std::vector<KernelChoice>& kernels) {
  if (kernels.size() > 1)
    fail(ExitCode::usage,
         "--resume goes on with one kernel in one precision, and this case compares {}; name one "
         "by --kernel and --set precision=",
         kernels.size());
}

// What every run of the case notes. Collective.
std::vector<std::string> notes_on_the_system(const Case& c, const GpusOfRanks& gpus,
                                             const Problem& problem,
                                             const DistributedMatrix& matrix, int matrix_exponent) {
  std::vector<std::string> notes;
  if (!gpus.lacking.empty() && !c.device)
    notes.push_back("no usable GPU on " + gpus.lacking + ": every rank computes on its CPU");
  if (problem.duplicates_summed > 0)
    notes.push_back(fmt::format("{} duplicate entries were added up", problem.duplicates_summed));
  const auto method = solvers::method_named(c.solver.method);
  if (method && solvers::info_of(*method).symmetric && !looks_symmetric(matrix))
    notes.push_back(fmt::format("the matrix is not symmetric, which {} needs; bicgstab does not",
                                solvers::info_of(*method).name));
  if (matrix_exponent != 0)
    notes.push_back(fmt::format(
        "the solver works on the matrix times 2^{}, where no square leaves the range of double",
        -matrix_exponent));
  return notes;
}

std::string partitioning_options(const Case& c) {
  std::string text;
  for (const auto& [option, value] : c.petsc)
    if (option.starts_with("mat_partitioning")) text += fmt::format("-{} {} ", option, value);
  return text;
}

std::int64_t solves_of(const Case& c, const Problem& problem) {
  if (!c.problem.steps.empty()) return std::ssize(steps_of(c.problem.steps));
  return c.repeat * std::ssize(problem.rhs);
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

}  // namespace

ProblemDescription describe_problem(const Case& c, const Problem& problem) {
  const std::size_t sides = problem.rhs.size();
  std::string note = problem.chosen.b_note;
  if (sides > 1) note += fmt::format("{}{} right-hand sides", note.empty() ? "" : ", ", sides);
  return {.name = problem.name,
          .generated = c.problem.generated(),
          .rows = problem.matrix.global_rows,
          .cols = problem.matrix.global_cols,
          .nnz = problem.matrix.global_nnz,
          .rhs = problem.chosen.b,
          .rhs_note = note,
          .x0 = problem.chosen.x0};
}

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

  // What can be refused before the problem is read.
  const bool expected = expects_gpu(comm, c);
  GpusOfRanks gpus = expected ? GpusOfRanks{.everywhere = true, .lacking = {}} : gpus_for(comm, c);
  std::vector<KernelChoice> requested = requested_kernels(c, gpus);
  const SavedRunFile state(c.report.directory);
  if (c.report.resume && !c.problem.steps.empty())
    fail(ExitCode::usage,
         "--resume does not go on with problem.steps: name the steps that are left in the case");
  if (c.report.resume) state.require(comm);
  CaseOutcome outcome;
  outcome.machine = describe_machine(comm);
  GpuWarmUp gpu(comm, requested, gpus, c);
  require_known_names(comm, c.solver);
  clock.lap(&StartSeconds::device);

  // The system.
  rank_zero.step_begins("reading " + problem_name(c.problem));
  ProblemSpec spec = c.problem;
  spec.rows_together = block_size_option();
  spec.with_modes = may_use_near_nullspace(c.solver);
  Problem problem = load_problem(comm, spec, gpu.sink(), [&](const MatrixFacts& facts) {
    require_petsc_counts(comm, problem_name(spec), facts.rows);
  });
  spec.rows_together = problem.rows_together;
  gpu.reading_has_ended();
  clock.lap(&StartSeconds::read);
  clock.move(&StartSeconds::read, &StartSeconds::check, problem.check_seconds);
  outcome.problem = describe_problem(c, problem);
  const MatrixIdentity fingerprints = identity_of(comm, problem);
  outcome.pattern_hash = fmt::format("{:016x}", fingerprints.pattern);
  outcome.values_hash = fmt::format("{:016x}", fingerprints.values);
  const RunIdentity identity = identity_of(comm, c, problem, fingerprints);
  const RowRange rows{problem.matrix.first_row, problem.matrix.local.rows,
                      problem.matrix.global_rows};
  CaseCache cached = open_cache(comm, c.cache);
  const std::optional<std::int64_t> earlier = cached.cache.find_number(iterations_key(c, outcome));
  const ProductsAhead ahead = products_of_a_solve(c.solver, earlier);
  DistributionRequest request{.distribution = c.distribution,
                              .rows_together = problem.rows_together,
                              .expected_products = ahead.count * solves_of(c, problem),
                              .why_so_many = ahead.why,
                              .reproducible = c.reproducible,
                              .pattern = fingerprints.pattern,
                              .options = partitioning_options(c)};
  RowDistribution distribution =
      choose_distribution(comm, problem.matrix, problem.row_starts, request, cached.cache);
  const std::shared_ptr<Redistribution> moved = distribution.moved;
  if (moved) {
    outcome.pattern = picture_of(comm, problem.matrix);
    rank_zero.step_begins("moving rows to their ranks");
  }
  std::optional<LastPattern> last_pattern;
  if (moved && !c.problem.steps.empty()) last_pattern.emplace(comm).take(problem.matrix);
  const auto matrix = place_rows(comm, problem, distribution, !c.problem.steps.empty());
  if (size_of(comm) > 1) outcome.distribution = distribution.outcome;
  std::optional<Steps> steps;
  if (!c.problem.steps.empty()) {
    const auto again = [&, request](const RowSlab& slab,
                                    const std::vector<std::int64_t>& row_starts) mutable {
      request.distribution = Distribution::graph;
      request.pattern = pattern_fingerprint(comm, slab);
      return choose_distribution(comm, slab, row_starts, request, cached.cache).moved;
    };
    steps.emplace(comm, spec, problem, matrix, MovedRows{moved, last_pattern, again});
    steps->begin();
  }
  const int matrix_exponent =
      steps ? steps->matrix_exponent() : scale_matrix(*matrix, problem.none_above_usual);
  PlainProduct plain(matrix);
  clock.lap(&StartSeconds::split);
  if (expected && gpu.is_missing()) {
    gpus = {};
    requested = requested_kernels(c, gpus);
  }
  outcome.machine.gpu = gpu.wait_until_open();
  clock.lap(&StartSeconds::device);
  if (!outcome.machine.gpu.empty()) {
    gpu.upload(*matrix, problem.in_stored_order && !moved && matrix->values_version == 0);
    clock.lap(&StartSeconds::upload);
  }
  std::vector<std::string> notes = notes_on_the_system(c, gpus, problem, *matrix, matrix_exponent);
  if (!outcome.machine.gpu.empty())
    if (std::string shared = gpus_that_are_shared(comm); !shared.empty())
      notes.push_back(std::move(shared));
  clock.lap(&StartSeconds::check);
  gpu.finish();
  clock.lap(&StartSeconds::device);

  // What the runs share.
  const auto key_of_choice = [&](const KernelChoice& kernel) {
    return decision_key(c, kernel, outcome, matrix->row_starts);
  };
  const std::vector<PlannedRun> planned =
      plan_runs(requested, *matrix, [&](const KernelChoice& kernel) {
        return cached.cache.find_decision(
            key_of_choice(kernel),
            [&](const KernelDecision& decision) { return can_run(decision, c, kernel); });
      });
  const bool compared = planned.size() > 1;
  if (c.report.resume) require_one_kernel(requested);
  std::optional<CheckpointSettings> checkpoints;
  if (!compared && !steps)
    checkpoints = {.file = state,
                   .identity = identity,
                   .rows = rows,
                   .interval = c.report.checkpoint,
                   .resume = c.report.resume,
                   .moved = moved};
  const SolveContext context{
      .spec = c,
      .problem = problem,
      .matrix = matrix,
      .plain = plain,
      .moved = moved,
      .checkpoints = checkpoints,
      .matrix_exponent = matrix_exponent,
      .steps = steps ? &*steps : nullptr,
      .load_peak_bytes = peak_resident_bytes(),
      .resident_before = resident_before,
      .clock = &clock,
      .order =
          [&](Ordering ordering, Device device) {
            return cached_order(cached.cache, key_of(kOrderKind, outcome, matrix->row_starts),
                                matrix, ordering, device);
          },
      // Runs that are compared set up alike.
      .hierarchies = compared ? multigrid::HierarchyStore()
                              : cached_hierarchies(cached.cache, key_of(kHierarchyKind, outcome,
                                                                        matrix->row_starts)),
      .on_step = rank_zero.sequence_steps()};
  if (!cached.note.empty()) notes.push_back(cached.note);
  clock.lap(&StartSeconds::check);

  // The runs.
  if (interrupts) interrupts->begin();
  for (std::size_t k = 0; k < planned.size(); ++k) {
    const int number = static_cast<int>(k);
    const std::string name = name_of(planned[k]);
    if (k > 0 && InterruptGuard::asked_anywhere(comm)) {
      outcome.not_run.push_back(name);
      continue;
    }
    if (k > 0 && steps && steps->begin() == Steps::Change::pattern) plain = PlainProduct(matrix);
    rank_zero.step_begins("building " + name);
    rank_zero.run_begins(number, name);
    if (steps && c.report.solution) steps->write_to(c.report.directory / "solution.h5");
    KernelRun run;
    try {
      run = run_without_bad_entries(comm, cached.cache, !steps, [&] {
        return run_kernel(context, planned[k], rank_zero.iterations_of(number));
      });
    } catch (const AgreedError& error) {
      const bool last = k + 1 == planned.size();
      if (error.code() != ExitCode::resource || (last && outcome.runs.empty())) throw;
      outcome.refused.push_back({name, error.what()});
      if (steps) steps->take_file();
      continue;
    }
    if (run.decision)
      cached.cache.keep_decision(key_of_choice(requested[k]), *run.decision,
                                 run.outcome.seconds.tune);
    if (moved && !steps)
      for (Array<double>& x : run.solutions) x = moved->back(x);
    if (c.report.solution)
      write_solution(comm, c, run, rows, compared, steps ? steps->take_file() : nullptr);
    for (std::string& note : cached.cache.take_notes())
      run.outcome.notes.push_back(std::move(note));
    run.outcome.notes.insert(run.outcome.notes.begin(), notes.begin(), notes.end());
    if (outcome.runs.empty()) outcome.start = clock.with_first_run(run.outcome.seconds);
    outcome.runs.push_back(std::move(run.outcome));
  }

  if (distribution.products_decided && !outcome.runs.empty()) {
    const RunOutcome& run = outcome.runs.front();
    if (run.converged && run.iterations != earlier)
      cached.cache.keep_number(iterations_key(c, outcome), run.iterations);
  }

  // What reports show besides the runs.
  if (!moved) outcome.pattern = picture_of(*matrix);
  outcome.case_text = c.text;

  // The comparisons.
  if (bandwidth_matters(outcome.problem)) {
    rank_zero.step_begins("measuring memory bandwidth");
    compare_with_bandwidth(comm, outcome);
  }
  compare_with_baseline(outcome.runs, matrix);
  compare_precisions(outcome.runs);
  for (const std::string& option : PetscSession::unused_options())
    for (RunOutcome& run : outcome.runs)
      run.notes.push_back("PETSc option " + option + " was not used; is it misspelt?");
  return outcome;
}

}  // namespace trireme
