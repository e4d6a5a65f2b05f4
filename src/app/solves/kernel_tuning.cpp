// SPDX-License-Identifier: BSD-3-Clause
// Builds, times and drops kernels between two iterations.
#include "app/solves/kernel_tuning.hpp"

#include <algorithm>
#include <utility>

#include "distributed/cuda_operator.hpp"
#include "parallel/collective.hpp"
#include "petsc/mat/case_kernels.hpp"
#include "planning/candidates.hpp"
#include "planning/cost_model.hpp"
#include "planning/expected_iterations.hpp"
#include "planning/kernel_for_matrix.hpp"
#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

constexpr int kTimedProducts = 5;
constexpr std::int64_t kFirstLook = 20;       // iterations
constexpr std::int64_t kFarMoreProducts = 4;  // times those of an earlier decision: tried again

std::int64_t products_per_iteration(const std::string& method) {
  const auto known = solvers::method_named(method);
  return known ? known->info.products : 1;
}

// PETSc's product, where any engine can have it.
std::vector<CandidateRequest::Other> others(const KernelChoice& running, const KspSolver& solver) {
  std::vector<CandidateRequest::Other> kernels;
  const bool given = running.ordering == Ordering::given || solver.row_order_is_free();
  for (const CaseKernel& kernel : case_kernels())
    if (const auto model = kernel.model_on(running.device);
        !kernel.entry && given && model && kernel.runs_on(running.device, running.precision) &&
        !kernel.engine_on(running.device))
      kernels.push_back({std::string(kernel.name), *model});
  return kernels;
}

const TrialCandidate* find(const std::vector<TrialCandidate>& candidates,
                           const TunerOption& option) {
  const auto same = std::ranges::find_if(candidates, [&](const TrialCandidate& candidate) {
    return candidate.kernel == option.kernel && candidate.ghost_kernel == option.ghost_kernel &&
           candidate.ordering == to_string(option.ordering);
  });
  return same == candidates.end() ? nullptr : &*same;
}

}  // namespace

KernelTuning::KernelTuning(const Case& c, std::shared_ptr<DistributedMatrix> matrix,
                           KernelChoice kernel, Amat& amat, KspSolver& solver,
                           std::optional<KernelDecision> earlier, MeasureProduct measure,
                           FindOrder order, std::optional<MatrixTraits> traits)
    : case_(c),
      matrix_(std::move(matrix)),
      kernel_(std::move(kernel)),
      amat_(amat),
      solver_(solver),
      earlier_(std::move(earlier)),
      measure_(std::move(measure)),
      find_order_(std::move(order)),
      traits_(traits),
      products_per_iteration_(products_per_iteration(solver.method())) {
  began_with_ = kernel_.name;
  if (solver.is_one_kernel())
    nothing_to_choose_ = "the system fits into shared memory, where the loop has its own product";
  if (!amat.shared_operator()) nothing_to_choose_ = "an earlier run chose PETSc's own product";
  if (const auto op = std::dynamic_pointer_cast<CudaOperator>(amat.shared_operator());
      op && !op->has_entries())
    nothing_to_choose_ = "the GPU has no room for the matrix beside the layout of this kernel";
  if (earlier_ && earlier_->iterations > 0) iterations_of_solve_ = earlier_->iterations;
}

void KernelTuning::list_candidates() {
  const Stopwatch watch;
  if (!traits_) traits_ = traits_for_cost_model(*matrix_, kernel_.device);
  tuner_.emplace(candidates({.running = kernel_,
                             .traits = *traits_,
                             .reproducible = case_.reproducible,
                             .orderings = solver_.row_order_is_free() && !case_.ordering,
                             .timed_products = kTimedProducts,
                             .others = others(kernel_, solver_)}));
  for (std::size_t k = 0; earlier_ && k < tuner_->options().size(); ++k) {
    const TrialCandidate* known = find(earlier_->trial.candidates, tuner_->options()[k]);
    if (known && known->product_us)
      tuner_->measured(k, *known->product_us, known->build_seconds.value_or(0), 0);
  }
  seconds_ += max_over_ranks(matrix_->comm, watch.seconds());
}

// Until a case is to do far more products than the decision was made for.
bool KernelTuning::decision_holds() const {
  return earlier_ && products_ahead() <=
                         static_cast<double>(kFarMoreProducts * earlier_->trial.expected_products);
}

void KernelTuning::solve_begins(std::int64_t solves_after) {
  solves_after_ = solves_after;
  norms_.clear();
  next_look_ = kFirstLook;
  paused_ = 0;
  solving_ = false;
  if (!tuner_ && nothing_to_choose_.empty() && !decision_holds()) list_candidates();
  int pays = tuner_ && iterations_of_solve_ > 0 && tuner_->next(progress()).has_value();
  MPI_Bcast(&pays, 1, MPI_INT, 0, matrix_->comm);
  if (pays != 0) run();
  solving_ = true;
  watch_ = {};
}

void KernelTuning::iteration(std::int64_t, double norm, double target) {
  norms_.push_back(norm);
  target_ = target;
}

void KernelTuning::solve_ends(KspResult& result) {
  if (solver_.engine() == Engine::petsc) result.seconds = std::max(0.0, result.seconds - paused_);
  iterations_of_solve_ = result.iterations;
  iterations_ += result.iterations;
  solved_seconds_ += result.seconds;
  solving_ = false;
}

Interlude KernelTuning::interlude() {
  if (!tuner_) return {};
  return {[this] { return due(); },
          [this] {
            run();
            return After::go_on;
          }};
}

double KernelTuning::products_ahead() const {
  const std::int64_t whole = std::max<std::int64_t>(iterations_of_solve_, 1);
  std::int64_t rest = whole;
  std::int64_t later = whole;
  if (solving_) {
    rest = expected_iterations(norms_, target_, solver_.max_iterations());
    later = std::ssize(norms_) + rest;
  }
  return static_cast<double>(products_per_iteration_) *
         (static_cast<double>(rest) +
          static_cast<double>(solves_after_) * static_cast<double>(later));
}

std::int64_t KernelTuning::products_done() const {
  return products_per_iteration_ *
         (iterations_ + (solving_ ? std::ssize(norms_) : std::int64_t{0}));
}

SolveProgress KernelTuning::progress() const {
  SolveProgress progress{.seconds = solved_seconds_, .products_ahead = products_ahead()};
  if (solving_) progress.seconds += watch_.seconds() - paused_;
  return progress;
}

bool KernelTuning::due() {
  if (!solving_ || !tuner_ || std::ssize(norms_) <= next_look_) return false;
  next_look_ = std::ssize(norms_) + std::max<std::int64_t>(1, std::ssize(norms_) / 16);
  SolveProgress here = progress();
  here.pause_seconds =
      predicted_pause_seconds(kernel_.device, *traits_, tuner_->expected_us(running_));
  return tuner_->next(here).has_value();
}

void KernelTuning::run() {
  const Stopwatch watch;
  const double built_before = amat_.build_seconds();
  SolveProgress here = progress();
  expected_ = std::max(expected_, products_done() + static_cast<std::int64_t>(here.products_ahead));
  if (!tuner_->options()[0].product_us) measure_running();
  for (;;) {
    largest_budget_ = std::max(largest_budget_, tuner_->budget_seconds(here));
    const auto next = tuner_->next(here);
    std::int64_t k = next ? static_cast<std::int64_t>(*next) : -1;
    MPI_Bcast(&k, 1, MPI_INT64_T, 0, matrix_->comm);
    if (k < 0) break;
    try_option(static_cast<std::size_t>(k));
  }
  std::int64_t winner = static_cast<std::int64_t>(tuner_->best());
  MPI_Bcast(&winner, 1, MPI_INT64_T, 0, matrix_->comm);
  if (static_cast<std::size_t>(winner) != running_) change_to(static_cast<std::size_t>(winner));
  best_.reset();
  std::erase_if(orders_, [&](const auto& order) { return order.first != kernel_.ordering; });
  const double seconds = max_over_ranks(matrix_->comm, watch.seconds());
  if (solving_) paused_ += seconds;
  const double chosen = running_ == 0 ? 0 : amat_.build_seconds();
  seconds_ += std::max(0.0, seconds - (amat_.build_seconds() != built_before ? chosen : 0));
}

std::shared_ptr<Operator> KernelTuning::make(const KernelChoice& choice) {
  if (choice.ordering == Ordering::given) return make_operator(matrix_, choice);
  auto& ordered = orders_[choice.ordering];
  if (!ordered) ordered = find_order_(choice.ordering, choice.device);
  return make_operator(matrix_, choice, ordered);
}

void KernelTuning::measure_running() {
  const Stopwatch watch;
  const double us =
      max_over_ranks(matrix_->comm, measure_(*amat_.shared_operator(), kTimedProducts));
  tuner_->measured(0, us, amat_.build_seconds(), max_over_ranks(matrix_->comm, watch.seconds()));
}

// A failure is the same on every rank.
void KernelTuning::try_option(std::size_t k) {
  const TunerOption& option = tuner_->options()[k];
  const Stopwatch watch;
  const bool made = orders_.contains(option.ordering);
  KernelChoice choice = kernel_;
  choice.name = option.kernel;
  choice.ordering = option.ordering;
  choice.ghost_kernel = option.ghost_kernel;
  try {
    std::shared_ptr<Operator> op = make(choice);
    const double us = max_over_ranks(matrix_->comm, measure_(*op, kTimedProducts));
    const double build = max_over_ranks(matrix_->comm, op->build_seconds());
    const double order = !made && op->ordered() ? op->ordered()->seconds() : 0;
    tuner_->measured(k, us, build, max_over_ranks(matrix_->comm, watch.seconds() - order));
    tuner_->order_is_made(option.ordering);
    if (tuner_->best() == k) {
      best_ = std::move(op);
      held_ = k;
    }
  } catch (const AgreedError& error) {
    if (error.code() != ExitCode::resource) throw;
    tuner_->failed(k, error.what(), max_over_ranks(matrix_->comm, watch.seconds()));
  }
}

void KernelTuning::change_to(std::size_t k) {
  const TunerOption& option = tuner_->options()[k];
  kernel_.name = option.kernel;
  kernel_.ordering = option.ordering;
  kernel_.ghost_kernel = option.ghost_kernel;
  if (!best_ || held_ != k) best_ = make(kernel_);
  const bool resident = solver_.engine() == Engine::resident;
  amat_.replace_operator(best_, resident);
  running_ = k;
  if (resident) solver_.prepare();
  if (solving_ && !changed_at_) changed_at_ = std::ssize(norms_) - 1;
}

// What an earlier run has measured, or that there is nothing to choose from.
TrialOutcome KernelTuning::without_trial() const {
  TrialOutcome outcome;
  if (earlier_) outcome = earlier_->trial;
  outcome.began_with = began_with_;
  outcome.from_cache = earlier_.has_value();
  outcome.seconds = 0;
  outcome.changed_at = std::nullopt;
  outcome.expected_from = earlier_ ? "an earlier run" : "the products done";
  if (earlier_) return outcome;
  outcome.expected_products = products_done();
  outcome.candidates.resize(1);
  outcome.candidates[0].kernel = kernel_.name;
  outcome.candidates[0].ordering = to_string(kernel_.ordering);
  outcome.candidates[0].chosen = true;
  outcome.candidates[0].verdict = nothing_to_choose_;
  return outcome;
}

TrialOutcome KernelTuning::outcome() const {
  if (!tuner_) return without_trial();
  TrialOutcome outcome;
  outcome.expected_products = expected_;
  outcome.budget_seconds = largest_budget_;
  outcome.seconds = seconds_;
  outcome.changed_at = changed_at_;
  outcome.began_with = began_with_;
  if (expected_ == 0) {
    outcome.expected_products = products_done();
    outcome.expected_from = "the products done";
  } else {
    outcome.expected_from = solves_after_ > 0 ? "the solves to come" : "the slope of the residual";
  }
  const std::size_t winner = running_;
  for (std::size_t k = 0; k < tuner_->options().size(); ++k) {
    const TunerOption& option = tuner_->options()[k];
    TrialCandidate candidate;
    candidate.kernel = option.kernel;
    candidate.ordering = to_string(option.ordering);
    candidate.ghost_kernel = option.ghost_kernel;
    candidate.predicted_us = option.predicted_us;
    candidate.product_us = option.product_us;
    candidate.chosen = k == winner;
    if (option.product_us) candidate.build_seconds = option.build_seconds;
    candidate.verdict = tuner_->verdict(k, winner);
    outcome.candidates.push_back(std::move(candidate));
  }
  std::ranges::stable_sort(
      outcome.candidates, [](const TrialCandidate& a, const TrialCandidate& b) {
        if (a.chosen != b.chosen) return a.chosen;
        if (a.product_us.has_value() != b.product_us.has_value()) return a.product_us.has_value();
        return a.product_us.value_or(a.predicted_us) < b.product_us.value_or(b.predicted_us);
      });
  return outcome;
}

std::optional<KernelDecision> KernelTuning::decision() const {
  if (!tuner_) return std::nullopt;
  TrialOutcome trial = outcome();
  trial.expected_products = std::max(trial.expected_products, products_done());
  return KernelDecision{.kernel = kernel_.name,
                        .ordering = std::string(to_string(kernel_.ordering)),
                        .ghost_kernel = kernel_.ghost_kernel,
                        .trial = std::move(trial),
                        .iterations = iterations_of_solve_};
}

}  // namespace trireme
