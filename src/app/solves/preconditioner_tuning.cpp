// SPDX-License-Identifier: BSD-3-Clause
// Predicts the candidates from the first iterations, and changes between two iterations.
#include "app/solves/preconditioner_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel/collective.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/list.hpp"

namespace trireme {
namespace {

using solvers::PreconditionerKind;

// What is expected before an option is measured, from runs over model problems on one CPU where
// nothing else is said. The figures of preconditioners that work with Jacobi's data are those of
// the list. `pass` is an iteration without its product.
//
// Multigrid takes so many products with the matrix, and seconds that the smallest matrix takes too.
struct MultigridCost {
  double set_up_products, set_up_seconds, cycle_products, cycle_seconds;
};
// The set-up takes 360 to 660 products, and a cycle 8 to 15 (poisson3d 100, diffusion3d 80,
// elasticity3d 30 on two cores).
constexpr MultigridCost kOnCpus{500, 1e-3, 15, 20e-6};
// On an H200 the set-up takes 360 to 600 products, and a cycle 5 to 9 (poisson3d 160 and
// diffusion3d 160, docs/performance/multigrid.md).
constexpr MultigridCost kOnOneGpu{400, 8e-3, 7, 40e-6};
// Where the hierarchy is read, the set-up takes 18 to 60 products on two cores (the same problems,
// and mesh2d 500).
constexpr MultigridCost kFoundOnCpus{60, 1e-3, 15, 20e-6};
constexpr double kMultigridRate = 0.5;  // decades per iteration

// The time of a column of a block, as a part of the time of a solve by itself.
constexpr double kBlockGain = 0.5;

Array<double> diagonal_of(const DistributedMatrix& matrix) {
  Array<double> diagonal(matrix.local_rows());
  matrix.diagonal(diagonal);
  return diagonal;
}

bool is_symmetric_method(const std::string& name) {
  const auto method = solvers::method_named(name);
  return method && method->info.symmetric;
}

// Why multigrid is no candidate; empty: it is one. Collective.
std::string no_multigrid(const DistributedMatrix& matrix, const Amat& amat,
                         const std::string& method) {
  if (amat.on_gpu() && size_of(matrix.comm) > 1)
    return "not tried: for several GPUs the CPUs build its levels";
  const Array<double> diagonal = diagonal_of(matrix);
  if (any_rank(matrix.comm, std::ranges::any_of(diagonal, [](double d) { return !(d > 0); })) &&
      any_rank(matrix.comm, std::ranges::any_of(diagonal, [](double d) { return !(d < 0); })))
    return "not tried: the diagonal has no one sign, so that the matrix is not definite";
  const auto named = solvers::method_named(method);
  if (!named || named->method != solvers::Method::cg)
    return fmt::format("not tried: with {} the matrix need not be symmetric and definite", method);
  const auto op = amat.shared_operator();
  if (op && op->ordered()) return "not tried: it needs the rows in the order of the file";
  return "";
}

void agree(MPI_Comm comm, bool& answer) { MPI_Bcast(&answer, 1, MPI_C_BOOL, 0, comm); }
void agree(MPI_Comm comm, double& number) { MPI_Bcast(&number, 1, MPI_DOUBLE, 0, comm); }
void agree(MPI_Comm comm, std::int64_t& number) { MPI_Bcast(&number, 1, MPI_INT64_T, 0, comm); }
void agree(MPI_Comm comm, std::string& text) {
  auto size = static_cast<std::int64_t>(text.size());
  agree(comm, size);
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, comm);
}
template <class Number>
void agree(MPI_Comm comm, std::optional<Number>& number) {
  std::int64_t known = number ? 1 : 0;
  agree(comm, known);
  Number value = number.value_or(0);
  agree(comm, value);
  number = known != 0 ? std::optional(value) : std::nullopt;
}

// Every rank takes the figures of rank 0, which has decided by them.
void agree(MPI_Comm comm, PreconditionerChoice& choice) {
  agree(comm, choice.solves);
  for (PreconditionerCandidate& c : choice.candidates) {
    agree(comm, c.measured);
    agree(comm, c.set_up_seconds);
    agree(comm, c.iteration_us);
    agree(comm, c.solve_seconds);
    agree(comm, c.pays_after);
    agree(comm, c.verdict);
  }
}

}  // namespace

AnyPreconditioner first_preconditioner(const DistributedMatrix& matrix) {
  const Array<double> diagonal = diagonal_of(matrix);
  const bool zero = std::ranges::find(diagonal, 0.0) != diagonal.end();
  return AnyPreconditioner(any_rank(matrix.comm, zero) ? PreconditionerKind::none
                                                       : PreconditionerKind::jacobi);
}

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
  else if (candidates_[0].is(PreconditionerKind::none))
    nothing_to_choose_ = "a row has a zero on the diagonal, by which the others divide";
  else if (!candidates_[0].is(PreconditionerKind::jacobi))
    nothing_to_choose_ = "an option of PETSc names it";
  const PreconditionerOption& multigrid = rule_.options().back();
  if (nothing_to_choose_.empty() && multigrid.failure.empty() && !amat.on_gpu())
    reads_multigrid_ = solver.expects_to_find_multigrid();
}

std::vector<PreconditionerOption> PreconditionerTuning::options(const DistributedMatrix& matrix) {
  const std::string method = solver_.method();
  std::vector<PreconditionerOption> options;
  const auto add = [&](const AnyPreconditioner& candidate, PreconditionerOption option) {
    candidates_.push_back(candidate);
    options.push_back(std::move(option));
  };
  add(solver_.preconditioner(), {});
  if (!candidates_[0].is(PreconditionerKind::none))
    add(AnyPreconditioner(PreconditionerKind::none),
        {.rate_of_first = 1,
         .failure =
             "not tried: Jacobi's set-up costs nothing, and its scaling is part of a pass that "
             "either of them makes"});
  solvers::for_each_preconditioner([&](PreconditionerKind kind, auto m) {
    const solvers::PreconditionerInfo& info = decltype(m)::type::info;
    if (!info.expected) return;
    add(AnyPreconditioner(kind), {.rate_of_first = info.expected->rate});
    if (info.symmetric && !is_symmetric_method(method))
      options.back().failure = "not tried: it is for symmetric matrices";
  });
  add(AnyPreconditioner::multigrid(),
      {.rate = kMultigridRate, .failure = no_multigrid(matrix, amat_, method)});
  return options;
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
  product = std::min(product, iteration);
  const double pass = iteration - product;
  for (std::size_t k = 1; k < rule_.options().size(); ++k) {
    const AnyPreconditioner& candidate = candidates_[k];
    if (candidate.is(PreconditionerKind::none)) rule_.predict(k, 0, iteration);
    const auto* const own = candidate.own();
    if (own && own->info.expected) {
      const solvers::ExpectedCost& expected = *own->info.expected;
      rule_.predict(k, expected.set_up_iterations * iteration,
                    iteration + expected.products * product + expected.passes * pass);
    }
    const MultigridCost& cost = amat_.on_gpu()     ? kOnOneGpu
                                : reads_multigrid_ ? kFoundOnCpus
                                                   : kOnCpus;
    if (candidate.is_multigrid())
      rule_.predict(k, cost.set_up_seconds + cost.set_up_products * product,
                    iteration + cost.cycle_seconds + cost.cycle_products * product);
  }
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
  reads_multigrid_ = false;
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
  return {[this] { return due(); }, [this] { return run(); }};
}

PreconditionerChoice PreconditionerTuning::outcome() const {
  PreconditionerChoice choice;
  choice.began_with = began_with_;
  choice.solves = most_solves_;
  choice.changed_at = changed_at_;
  SolveOutlook whole{.decades_whole = decades_whole_};
  for (std::size_t k = 0; k < rule_.options().size(); ++k) {
    const PreconditionerOption& option = rule_.options()[k];
    PreconditionerCandidate candidate;
    candidate.name = k == 0 ? began_with_ : candidates_[k].name();
    candidate.chosen = k == rule_.running();
    candidate.measured = option.measured;
    const bool known = option.iteration_seconds > 0 && nothing_to_choose_.empty();
    if (known) {
      candidate.set_up_seconds = option.set_up_seconds;
      candidate.iteration_us = 1e6 * option.iteration_seconds;
      candidate.solve_seconds = rule_.solve_seconds(k, decades_whole_);
      if (k != 0) candidate.pays_after = rule_.pays_after(k, 0, decades_whole_);
    }
    if (!nothing_to_choose_.empty())
      candidate.verdict = k == 0 ? nothing_to_choose_ : "not tried";
    else if (!candidate.chosen)
      candidate.verdict = rule_.why_not(k, whole);
    else if (k == 0)
      candidate.verdict = "the run began with it, and no change was expected to pay";
    else
      candidate.verdict =
          candidate.pays_after
              ? fmt::format("its set-up has paid after {} solve{}", *candidate.pays_after,
                            *candidate.pays_after == 1 ? "" : "s")
              : std::string("its set-up and solves were expected to take less time");
    if (candidates_[k].is_multigrid() && reads_multigrid_)
      candidate.verdict += "; the cache has its hierarchy";
    choice.candidates.push_back(std::move(candidate));
  }
  std::stable_partition(choice.candidates.begin(), choice.candidates.end(),
                        [](const auto& c) { return c.chosen; });
  agree(comm_, choice);
  return choice;
}

}  // namespace trireme
