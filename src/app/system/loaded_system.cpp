// SPDX-License-Identifier: BSD-3-Clause
#include "app/system/loaded_system.hpp"

#include <fmt/format.h>

#include <utility>

#include "app/figures/machine_description.hpp"
#include "app/figures/pattern_picture.hpp"
#include "app/kept/saved_run.hpp"
#include "app/requested_kernels.hpp"
#include "app/solves/products_ahead.hpp"
#include "config/steps.hpp"
#include "device/driver.hpp"
#include "distributed/matrix_look.hpp"
#include "distributed/scaling/system_scale.hpp"
#include "io/fingerprint.hpp"
#include "parallel/collective.hpp"
#include "petsc/index_size.hpp"
#include "petsc/ksp/known_names.hpp"
#include "petsc/mat/block_size.hpp"
#include "petsc/pc/near_nullspace.hpp"
#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

// Whether this process takes a GPU for granted until it has read the problem: the driver starts as
// slowly as millions of rows are read. Several ranks agree on their GPUs before they read.
bool expects_gpu(MPI_Comm comm, const Case& c) {
  return size_of(comm) == 1 && c.device != Device::cpu && driver_is_visible();
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

}  // namespace

GpusOfRanks gpus_for(MPI_Comm comm, const Case& c) {
  return c.device == Device::cpu ? GpusOfRanks() : gpus_of_ranks(comm);
}

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

LoadedSystem::LoadedSystem(MPI_Comm comm, const Case& c, const RankZero& rank_zero,
                           StartClock& clock, CaseOutcome& outcome)
    : comm_(comm),
      case_(c),
      rank_zero_(rank_zero),
      clock_(clock),
      outcome_(outcome),
      expected_gpu_(expects_gpu(comm, c)),
      gpus_(expected_gpu_ ? GpusOfRanks{.everywhere = true, .lacking = {}} : gpus_for(comm, c)),
      requested_(requested_kernels(c, gpus_)),
      cached_{SharedCache(comm, {}), {}} {
  if (c.report.resume && !c.problem.steps.empty())
    fail(ExitCode::usage,
         "--resume does not go on with problem.steps: name the steps that are left in the case");
  if (c.report.resume) SavedRunFile(c.report.directory).require(comm);
  outcome.machine = describe_machine(comm);
  gpu_.emplace(comm, requested_, gpus_, c);
  require_known_names(comm, c.solver);
  clock.lap(&StartSeconds::device);
  read();
  identify();
  distribute();
  use_gpu();
}

void LoadedSystem::read() {
  rank_zero_.step_begins("reading " + problem_name(case_.problem));
  spec_ = case_.problem;
  spec_.rows_together = block_size_option();
  spec_.with_modes = may_use_near_nullspace(case_.solver);
  problem_ = load_problem(comm_, spec_, gpu_->sink(), [&](const MatrixFacts& facts) {
    require_petsc_counts(comm_, problem_name(spec_), facts.rows);
  });
  spec_.rows_together = problem_.rows_together;
  gpu_->reading_has_ended();
  clock_.lap(&StartSeconds::read);
  clock_.move(&StartSeconds::read, &StartSeconds::check, problem_.check_seconds);
}

void LoadedSystem::identify() {
  outcome_.problem = describe_problem(case_, problem_);
  fingerprints_ = identity_of(comm_, problem_);
  outcome_.pattern_hash = fmt::format("{:016x}", fingerprints_.pattern);
  outcome_.values_hash = fmt::format("{:016x}", fingerprints_.values);
  identity_ = identity_of(comm_, case_, problem_, fingerprints_);
  rows_of_file_ = {problem_.matrix.first_row, problem_.matrix.local.rows,
                   problem_.matrix.global_rows};
  cached_ = open_cache(comm_, case_.cache);
  earlier_ = cached_.cache.find_number(iterations_key(case_, outcome_));
}

void LoadedSystem::distribute() {
  const bool has_steps = !case_.problem.steps.empty();
  const ProductsAhead ahead = products_of_a_solve(case_.solver, earlier_);
  const DistributionRequest request{.distribution = case_.distribution,
                                    .rows_together = problem_.rows_together,
                                    .expected_products = ahead.count * solves_of(case_, problem_),
                                    .why_so_many = ahead.why,
                                    .reproducible = case_.reproducible,
                                    .pattern = fingerprints_.pattern,
                                    .options = partitioning_options(case_)};
  if (size_of(comm_) > 1)
    rank_zero_.step_begins(fmt::format("dividing {} rows among {} ranks",
                                       problem_.matrix.global_rows, size_of(comm_)));
  distribution_ =
      choose_distribution(comm_, problem_.matrix, problem_.row_starts, request, cached_.cache);
  std::optional<LastPattern> pattern;
  if (moved()) {
    outcome_.pattern = picture_of(comm_, problem_.matrix);
    rank_zero_.step_begins("moving rows to their ranks");
    if (has_steps) pattern.emplace(comm_).take(problem_.matrix);
  }
  matrix_ = place_rows(comm_, problem_, distribution_, has_steps);
  if (size_of(comm_) > 1) outcome_.distribution = distribution_.outcome;
  if (has_steps) begin_steps(request, std::move(pattern));
  matrix_exponent_ =
      steps_ ? steps_->matrix_exponent() : scale_matrix(*matrix_, problem_.none_above_usual);
  plain_.emplace(matrix_);
  clock_.lap(&StartSeconds::split);
}

void LoadedSystem::begin_steps(DistributionRequest request, std::optional<LastPattern> pattern) {
  request.distribution = Distribution::graph;
  const auto again = [this, request](const RowSlab& slab,
                                     const std::vector<std::int64_t>& row_starts) mutable {
    request.pattern = pattern_fingerprint(comm_, slab);
    return choose_distribution(comm_, slab, row_starts, request, cached_.cache).moved;
  };
  steps_.emplace(comm_, spec_, problem_, matrix_, MovedRows{moved(), std::move(pattern), again});
  steps_->begin();
}

void LoadedSystem::begin_again() {
  if (steps_ && steps_->begin() == Steps::Change::pattern) plain_->take_pattern();
}

void LoadedSystem::use_gpu() {
  if (expected_gpu_ && gpu_->is_missing()) {
    gpus_ = {};
    requested_ = requested_kernels(case_, gpus_);
  }
  outcome_.machine.gpu = gpu_->wait_until_open();
  const bool used = !outcome_.machine.gpu.empty();
  clock_.lap(&StartSeconds::device);
  if (used) {
    gpu_->upload(*matrix_, problem_.in_stored_order && !moved() && matrix_->values_version == 0);
    clock_.lap(&StartSeconds::upload);
  }
  note();
  if (used)
    if (std::string shared = gpus_that_are_shared(comm_); !shared.empty())
      notes_.push_back(std::move(shared));
  clock_.lap(&StartSeconds::check);
  gpu_->finish();
  clock_.lap(&StartSeconds::device);
}

void LoadedSystem::note() {
  if (!gpus_.lacking.empty() && !case_.device)
    notes_.push_back("no usable GPU on " + gpus_.lacking + ": every rank computes on its CPU");
  if (problem_.duplicates_summed > 0)
    notes_.push_back(fmt::format("{} duplicate entries were added up", problem_.duplicates_summed));
  const auto method = solvers::method_named(case_.solver.method);
  if (method && method->info.symmetric && !look_at(*matrix_).symmetric())
    notes_.push_back(fmt::format("the matrix is not symmetric, which {} needs; bicgstab does not",
                                 method->info.name));
  if (matrix_exponent_ != 0)
    notes_.push_back(fmt::format(
        "the solver works on the matrix times 2^{}, where no square leaves the range of double",
        -matrix_exponent_));
}

}  // namespace trireme
