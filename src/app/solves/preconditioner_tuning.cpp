// SPDX-License-Identifier: BSD-3-Clause
// Predicts the candidates from the first iterations, and changes between two iterations.
#include "app/solves/preconditioner_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel/collective.hpp"
#include "planning/preconditioner_candidates.hpp"
#include "solvers/preconditioners/list.hpp"

namespace trireme {
namespace {

// The time of a column of a block, as a part of the time of a solve by itself.
constexpr double kBlockGain = 0.5;

}  // namespace

PreconditionerTuning::PreconditionerTuning(const DistributedMatrix& matrix, Amat& amat,
                                           KspSolver& solver, PreconditionerClock clock)
    : comm_(matrix.comm),
      amat_(amat),
      solver_(solver),
      clock_(std::move(clock)),
      rule_(options(matrix)),
      began_with_(solver.preconditioner_words()) {
  if (solver.engine() != Engine::resident)
    nothing_to_choose_ = "PETSc's loop is not left for another preconditioner";
  else if (candidates_[0].is(solvers::PreconditionerKind::none))
    nothing_to_choose_ = "a row has a zero on the diagonal, by which the others divide";
  else if (!candidates_[0].is(solvers::PreconditionerKind::jacobi))
    nothing_to_choose_ = "an option of PETSc names it";
  bool may_be_found = false;
  for (std::size_t k = 0; k < candidates_.size(); ++k)
    may_be_found |= rule_.options()[k].failure.empty() && can_be_found(candidates_[k]);
  if (nothing_to_choose_.empty() && may_be_found && !amat.on_gpu())
    found_ = solver.expects_to_find_multigrid();
}

std::vector<PreconditionerOption> PreconditionerTuning::options(const DistributedMatrix& matrix) {
  const std::shared_ptr<Operator> op = amat_.shared_operator();
  PreconditionerCandidates found =
      preconditioner_candidates(matrix, {.preconditioner = solver_.preconditioner(),
                                         .method = solver_.method(),
                                         .on_gpu = amat_.on_gpu(),
                                         .in_order = op && op->ordered()});
  candidates_ = std::move(found.preconditioners);
  return std::move(found.options);
}

void PreconditionerTuning::predict() {
  const double iteration = rule_.options()[0].iteration_seconds;
  double product = 0.5 * iteration;
  if (clock_.product_seconds) {
    product = clock_.product_seconds();
  } else if (std::vector<float> us = amat_.times().kept(); !us.empty()) {
    std::ranges::nth_element(us, us.begin() + std::ssize(us) / 2);
    product = 1e-6 * static_cast<double>(us[us.size() / 2]);
  }
  predict_costs(rule_, candidates_, product, amat_.on_gpu(), found_);
}

double PreconditionerTuning::iteration_seconds(double measured) const {
  return clock_.iteration_seconds ? clock_.iteration_seconds(running()) : measured;
}

void PreconditionerTuning::solve_begins(std::int64_t solves_after) {
  solves_after_ = solves_after;
  most_solves_ = std::max(most_solves_, solves_ + solves_after + 1);
  norms_.clear();
  took_over_ = 0;
  paused_ = seconds_before_ = 0;
  next_look_ = 0;
  solving_ = false;
  if (nothing_to_choose_.empty() && solves_ > 0) {
    ++solves_after_;  // the solve that begins is ahead as a whole
    run();
    --solves_after_;
  }
  solving_ = true;
  watch_ = {};
}

void PreconditionerTuning::iteration(double norm, double target) {
  norms_.push_back(norm);
  target_ = target;
}

SolveOutlook PreconditionerTuning::outlook() const {
  SolveOutlook here{.decades_whole = decades_whole_, .solves_after = solves_after_};
  if (!solving_ || norms_.empty()) return here;
  const double now = *std::ranges::min_element(norms_);
  here.decades_left = now > target_ && target_ > 0 ? std::log10(now / target_) : 0;
  here.iterations = std::ssize(norms_) - 1;
  const auto done = static_cast<double>(std::ssize(norms_) - 1) - static_cast<double>(took_over_);
  here.seconds = seconds_before_;
  if (done > 0) here.seconds += done * iteration_seconds((watch_.seconds() - paused_) / done);
  return here;
}

void PreconditionerTuning::observe() {
  if (norms_.empty()) return;
  if (target_ > 0 && norms_.front() > target_)
    decades_whole_ = std::log10(norms_.front() / target_);
  const std::span<const double> shown = std::span<const double>(norms_).subspan(took_over_);
  const auto iterations = static_cast<double>(shown.size()) - 1;
  if (iterations < 1) return;
  const double measured = (watch_.seconds() - paused_) / iterations;
  rule_.observe(shown, iteration_seconds(measured) * iterations);
  if (rule_.running() == 0) predict();
}

bool PreconditionerTuning::due() {
  const std::int64_t done = std::ssize(norms_) - 1 - static_cast<std::int64_t>(took_over_);
  if (!solving_ || done < next_look_) return false;
  next_look_ = std::max(
      done + std::max<std::int64_t>(1, done / 16),
      rule_.running() == 0 ? PreconditionerRule::kFirstLook : PreconditionerRule::kFirstLookBack);
  observe();
  return rule_.next(outlook()).has_value();
}

bool PreconditionerTuning::run() {
  const auto next = rule_.next(outlook());
  std::int64_t k = next ? static_cast<std::int64_t>(*next) : -1;
  MPI_Bcast(&k, 1, MPI_INT64_T, 0, comm_);
  if (k < 0) return false;
  if (rule_.running() != 0 && stale_) {
    change_to(rule_.running());
    return true;
  }
  if (rule_.running() != 0) {
    const SolveOutlook here = outlook();
    const auto mine = rule_.solve_seconds(rule_.running(), here.decades_whole);
    rule_.leave(mine ? fmt::format("left: a solve would have taken {:.2g} s", *mine)
                     : std::string("left: its iterations did not reduce the residual"));
  }
  change_to(static_cast<std::size_t>(k));
  return true;
}

// An error is the same on every rank.
void PreconditionerTuning::change_to(std::size_t option) {
  const double iterating = watch_.seconds() - paused_;
  double seconds = 0;
  try {
    seconds = solver_.change_preconditioner(candidates_[option]);
  } catch (const Error& error) {
    if (error.code() == ExitCode::internal || option == 0) throw;
    rule_.failed(option, fmt::format("not possible: {}", error.what()));
    if (option == rule_.running()) return change_to(0);
    solver_.change_preconditioner(running());
    watch_ = {};
    return;
  }
  const bool renewal = option == rule_.running();
  rule_.changed_to(option, seconds);
  change_ = {.seconds = seconds, .renewal = renewal};
  stale_ = false;
  if (solving_) {
    seconds_before_ += iterating;
    took_over_ = norms_.empty() ? 0 : norms_.size() - 1;
    if (solves_ == 0 && !renewal) changed_at_ = static_cast<std::int64_t>(took_over_);
  }
  if (option == 0) changed_at_.reset();
  paused_ = 0;
  next_look_ = 0;
  watch_ = {};
}

void PreconditionerTuning::solve_ends(const KspResult& result) {
  if (solving_ && nothing_to_choose_.empty()) {
    observe();
    if (took_over_ == 0 && result.verdict.converged && std::ssize(norms_) > 1)
      rule_.solved(std::ssize(norms_) - 1, decades_whole_,
                   iteration_seconds(result.seconds / static_cast<double>(norms_.size() - 1)) *
                       static_cast<double>(norms_.size() - 1));
    if (rule_.running() == 0) predict();
  }
  solving_ = false;
  ++solves_;
}

void PreconditionerTuning::block_ends(std::span<const KspResult> results, double seconds) {
  std::int64_t sum = 0;
  for (const KspResult& result : results) sum += result.iterations;
  const auto columns = static_cast<double>(results.size());
  const std::int64_t mean = std::llround(static_cast<double>(sum) / columns);
  if (nothing_to_choose_.empty() && mean > 0 &&
      std::ranges::all_of(results, [](const KspResult& r) { return r.verdict.converged; })) {
    const double alone = seconds / (kBlockGain * columns);
    const auto count = static_cast<double>(mean);
    rule_.solved(mean, decades_whole_, iteration_seconds(alone / count) * count);
    if (rule_.running() == 0) predict();
  }
  solving_ = false;
  ++solves_;
}

// The cache is for the values with which the run began.
void PreconditionerTuning::values_changed(bool preconditioner_has_them) {
  stale_ = !preconditioner_has_them;
  found_ = false;
}

bool PreconditionerTuning::falls_back(std::span<const KspResult> results) {
  const auto failed = std::ranges::find_if(results, [](const KspResult& result) {
    return !result.verdict.converged && !result.can_go_on &&
           result.verdict.reason != KSP_DIVERGED_ITS && !result.facts.stopped;
  });
  if (rule_.running() == 0 || failed == results.end()) return false;
  rule_.failed(rule_.running(), fmt::format("left: {}", failed->verdict.text));
  solving_ = false;
  change_to(0);
  norms_.clear();
  took_over_ = 0;
  seconds_before_ = 0;
  changed_at_.reset();
  solving_ = true;
  return true;
}

std::vector<AnyPreconditioner> PreconditionerTuning::left() const {
  std::vector<AnyPreconditioner> left;
  for (std::size_t k = 0; k < candidates_.size(); ++k) {
    const std::string& failure = rule_.options()[k].failure;
    if (failure.starts_with("left") || failure.starts_with("not possible"))
      left.push_back(candidates_[k]);
  }
  return left;
}

Interlude PreconditionerTuning::interlude() {
  if (!nothing_to_choose_.empty()) return {};
  return {[this] { return due(); }, [this] { return run() ? After::new_space : After::go_on; }};
}

}  // namespace trireme
