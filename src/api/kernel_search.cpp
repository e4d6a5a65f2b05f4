// SPDX-License-Identifier: BSD-3-Clause
#include "api/kernel_search.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"
#include "planning/candidates.hpp"
#include "planning/kernel_for_matrix.hpp"

namespace trireme::api {
namespace {

constexpr int kTimedProducts = 5;
// Making and timing the cheapest kernel takes longer than what fewer products could gain.
constexpr double kLeastProducts = 200;
// Of the fastest layout so far, of the one that is being built, and of what its build needs.
constexpr std::int64_t kLayouts = 3;
constexpr std::int64_t kBytesPerNonzero = 16;

double largest(const Ranks& ranks, double number) {
  ranks.largest({&number, 1});
  return number;
}

}  // namespace

KernelSearch::KernelSearch(const Ranks& ranks, std::shared_ptr<DistributedMatrix> matrix,
                           KernelChoice running, MeasureProduct measure)
    : ranks_(ranks),
      matrix_(std::move(matrix)),
      choice_(std::move(running)),
      measure_product_(std::move(measure)) {}

void KernelSearch::solve_ends(std::int64_t products, double seconds) {
  ++solves_;
  products_of_last_ = products;
  seconds_ += seconds;
}

SolveProgress KernelSearch::progress(std::int64_t solves_ahead) const {
  const auto solves = static_cast<double>(std::max(solves_ahead, solves_));
  return {.seconds = seconds_, .products_ahead = solves * static_cast<double>(products_of_last_)};
}

// A GPU without memory refuses a layout. A host would end the process.
bool KernelSearch::has_room() const {
  if (choice_.device == Device::cuda) return true;
  const std::int64_t mine = kLayouts * kBytesPerNonzero * matrix_->blocks.nnz();
  const NodeMemory memory = node_memory(ranks_.comm(), mine);
  return !ranks_.any(memory.needed > memory.shared || mine > memory.own);
}

std::optional<std::size_t> KernelSearch::next(const SolveProgress& here, bool announced) const {
  auto k = tuner_->next(here);
  if (k && !announced &&
      tuner_->spent_seconds() + tuner_->options()[*k].predicted_seconds >
          Tuner::kSmallPart * seconds_)
    k.reset();
  return ranks_.first(k);
}

void KernelSearch::measure(std::size_t option, Operator& op, double seconds_before) {
  const Stopwatch watch;
  const double us = largest(ranks_, measure_product_(op, kTimedProducts));
  const double build = largest(ranks_, op.build_seconds());
  tuner_->measured(option, us, build, largest(ranks_, seconds_before + watch.seconds()));
}

std::shared_ptr<Operator> KernelSearch::between_solves(
    Operator& running, std::int64_t solves_ahead,
    const std::function<std::shared_ptr<Operator>(const KernelChoice&)>& make) {
  const SolveProgress here = progress(solves_ahead);
  if (ranks_.first(solves_ == 0 || here.products_ahead < kLeastProducts)) return nullptr;
  if (!tuner_) {
    lacks_room_ = lacks_room_ || !has_room();
    if (lacks_room_) return nullptr;
    tuner_.emplace(candidates({.running = choice_,
                               .traits = traits_for_cost_model(*matrix_, choice_.device),
                               .timed_products = kTimedProducts}));
  }
  std::shared_ptr<Operator> best;
  std::size_t held = running_;
  const bool announced = solves_ahead >= solves_;
  for (auto k = next(here, announced); k; k = next(here, announced)) {
    if (!tuner_->options()[running_].product_us) measure(running_, running, 0);
    const TunerOption& option = tuner_->options()[*k];
    KernelChoice choice = choice_;
    choice.name = option.kernel;
    choice.ghost_kernel = option.ghost_kernel;
    const Stopwatch watch;
    try {
      std::shared_ptr<Operator> op = make(choice);
      measure(*k, *op, watch.seconds());
      if (tuner_->best() != *k) continue;
      best = std::move(op);
      held = *k;
    } catch (const Error& error) {
      if (error.code() != ExitCode::resource) throw;
      tuner_->failed(*k, error.what(), largest(ranks_, watch.seconds()));
    }
  }
  if (held == running_) return nullptr;
  running_ = held;
  choice_.name = tuner_->options()[held].kernel;
  choice_.ghost_kernel = tuner_->options()[held].ghost_kernel;
  return best;
}

std::vector<KernelTrial> KernelSearch::trials() const {
  std::vector<KernelTrial> trials;
  if (!tuner_) return trials;
  for (std::size_t k = 0; k < tuner_->options().size(); ++k) {
    const TunerOption& option = tuner_->options()[k];
    KernelTrial& trial = trials.emplace_back();
    trial.kernel = option.kernel;
    trial.ghost_kernel = option.ghost_kernel;
    trial.predicted_microseconds = option.predicted_us;
    trial.product_microseconds = option.product_us.value_or(0);
    trial.build_seconds = option.build_seconds;
    trial.verdict = tuner_->verdict(k, running_);
  }
  std::swap(trials[0], trials[running_]);
  return trials;
}

}  // namespace trireme::api
