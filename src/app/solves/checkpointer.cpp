// SPDX-License-Identifier: BSD-3-Clause
// How a run goes on from its state, writes checkpoints, and what it leaves at the end.
#include "app/solves/checkpointer.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

constexpr double kMaxPartOfTime = 0.01;  // of the run, for checkpoints
// A loop that goes on computes, before its first iteration, about as much as in this many.
constexpr double kIterationsToGoOn = 3;
constexpr std::size_t kLongestHistory = 1'000'000;

std::chrono::steady_clock::duration duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

// Adds to `norms` those of a solve that went on at iteration `before` and came to `iterations`. The
// solve may report the first of its norms a second time.
void append(std::vector<double>& norms, const std::vector<double>& reported,
            std::int64_t iterations, std::int64_t before) {
  const auto fresh =
      norms.empty() ? reported.size() : static_cast<std::size_t>(iterations - before);
  const std::size_t first = reported.size() > fresh ? reported.size() - fresh : 0;
  const std::size_t room = kLongestHistory - std::min(kLongestHistory, norms.size());
  const std::size_t last = std::min(reported.size(), first + room);
  norms.insert(norms.end(), reported.begin() + static_cast<std::ptrdiff_t>(first),
               reported.begin() + static_cast<std::ptrdiff_t>(last));
}

}  // namespace

Checkpointer::Checkpointer(MPI_Comm comm, std::optional<CheckpointSettings> settings, Engine engine,
                           std::vector<Array<double>>& x)
    : comm_(comm), settings_(std::move(settings)), x_(x) {
  if (!settings_) return;
  settings_->identity.push_back({"the engine", std::string(to_string(engine))});
  if (!settings_->resume) return;
  std::vector<Array<double>> before;
  run_ = settings_->file.read(comm, settings_->identity, settings_->rows, before);
  if (before.size() > x.size())
    fail(ExitCode::input, "the state of the run before has more right-hand sides than the case");
  if (const Redistribution* const moved = settings_->moved.get()) {
    for (Array<double>& vector : before) vector = moved->there(vector);
    for (SavedSolve& solve : run_.solves)
      for (Array<double>& vector : solve.stopped.directions) vector = moved->there(vector);
  }
  std::ranges::move(before, x.begin());
}

std::int64_t Checkpointer::iterations_before(std::size_t k) const {
  return k < run_.solves.size() && !run_.solves[k].converged ? run_.solves[k].stopped.iterations
                                                             : 0;
}

SavedSolve& Checkpointer::entry(std::size_t k) {
  if (run_.solves.size() <= k) run_.solves.resize(k + 1);
  return run_.solves[k];
}

void Checkpointer::remember(std::size_t k, solvers::StoppedSolve stopped,
                            const std::vector<double>& norms, double unit) {
  SavedSolve& now = entry(k);
  now.stopped = std::move(stopped);
  now.stopped.reference /= unit;
  now.history = norms;
  for (double& norm : now.history) norm /= unit;
}

KspResult Checkpointer::solve(KspSolver& solver, Vec b, Vec x, const Solve& what) {
  SavedSolve& now = entry(what.k);
  const double unit = what.unit > 0 ? what.unit : 1;
  std::int64_t before = iterations_before(what.k);
  std::vector<double> norms = std::exchange(now.history, {});
  for (double& norm : norms) norm *= unit;

  const auto go_on = [&] {
    solvers::StoppedSolve stopped = now.stopped;
    stopped.reference *= unit;
    solver.go_on(stopped);
  };
  const auto remember = [&](solvers::StoppedSolve stopped) {
    this->remember(what.k, std::move(stopped), norms, unit);
  };
  const auto keep = [&](Vec solution) {
    x_[what.k] = what.solution(solution);
    if (write()) ++checkpoints_;
  };

  bool goes_on = before > 0 || !now.stopped.directions.empty();
  if (goes_on) {
    what.guess(x_[what.k], x);
    go_on();
    notes_.push_back(fmt::format(
        "resumed at iteration {}{}: iterations and history are those of all runs, times those of "
        "this run",
        before, x_.size() > 1 ? fmt::format(" of right-hand side {}", what.k + 1) : ""));
  }
  if (keeps_checkpoints() && next_ == Clock::time_point::max()) {
    begun_ = Clock::now();
    wait(settings_->interval);
  }
  bool interlude_due = false, leaves = false;
  const auto due_now = [&] {
    if (what.interlude.due && rank_of(comm_) == 0) interlude_due |= what.interlude.due();
    return interlude_due || due();
  };
  // Why the loop was left: the same on every rank. A checkpoint is meant where nothing else is.
  struct Left {
    int for_checkpoint, for_interlude;
  };
  const auto left = [&] {
    Left why{due() || !interlude_due, std::exchange(interlude_due, false)};
    MPI_Bcast(&why, 2, MPI_INT, 0, comm_);
    return why;
  };
  if (keeps_checkpoints() || what.interlude.due) {
    // PETSc's own loops call the second function while they run.
    solver.keep_checkpoints({due_now, [&](std::int64_t iteration, Vec solution) {
                               const Left why = left();
                               if (why.for_interlude) leaves = what.interlude.run() == After::leave;
                               if (leaves || !why.for_checkpoint || !keeps_checkpoints())
                                 return !leaves;
                               const std::vector<double> ended = norms;
                               append(norms, solver.residuals(), before + iteration, before);
                               solvers::StoppedSolve so_far;
                               so_far.iterations = before + iteration;
                               remember(std::move(so_far));
                               norms = ended;
                               keep(solution);
                               return true;
                             }});
  }
  double seconds = 0, dropped_norm = -1;
  for (;;) {
    KspResult latest = solver.solve(b, x, what.nonzero_guess || goes_on);
    seconds += latest.seconds;
    // Only the part that began knows it.
    dropped_norm = std::max(dropped_norm, latest.facts.dropped_norm);
    latest.facts.dropped_norm = dropped_norm;
    append(norms, latest.residuals, latest.iterations, before);
    const bool may_go_on =
        (keeps_checkpoints() || what.interlude.due) && solver.engine() == Engine::resident;
    const auto leave = [&] {
      latest.verdict.text = "not converged: left for another method";
      latest.verdict.reason = KSP_DIVERGED_ITS;
      latest.facts.stopped = latest.can_go_on = false;
    };
    if (leaves) leave();
    if (!latest.facts.stopped || !may_go_on || InterruptGuard::asked_anywhere(comm_)) {
      solver.keep_checkpoints({});
      if (latest.can_go_on && settings_) remember(solver.stopped());
      latest.residuals = std::move(norms);
      latest.seconds = seconds;
      return latest;
    }
    remember(solver.stopped());
    const Left why = left();
    if (why.for_checkpoint && keeps_checkpoints()) {
      keep(x);
      if (latest.iterations > before)
        spend(kIterationsToGoOn * latest.seconds / static_cast<double>(latest.iterations - before));
    }
    const After after = why.for_interlude ? what.interlude.run() : After::go_on;
    if (after == After::leave) {
      solver.keep_checkpoints({});
      leave();
      latest.residuals = std::move(norms);
      latest.seconds = seconds;
      return latest;
    }
    if (after == After::new_space) now.stopped.new_space = true;
    before = latest.iterations;
    goes_on = true;
    go_on();
  }
}

void Checkpointer::solved(std::size_t k, const KspResult& result) {
  SavedSolve& now = entry(k);
  now.converged = result.verdict.converged;
  if (result.can_go_on && !now.converged)
    can_go_on_ = true;
  else
    now.stopped = {};
}

void Checkpointer::begin_round(std::int64_t solves_before) {
  run_ = {.solves_before = solves_before, .solves = {}};
}

void Checkpointer::end(bool converged, bool stopped) {
  if (!settings_) return;
  const double seconds = spent_;
  if (converged)
    settings_->file.remove(comm_);
  else if ((can_go_on_ || stopped) && write())
    notes_.emplace_back("solve --resume goes on from here");
  if (checkpoints_ > 0)
    notes_.push_back(fmt::format(
        "{} written while solving, {:.2g} s in all",
        checkpoints_ == 1 ? "1 checkpoint" : fmt::format("{} checkpoints", checkpoints_), seconds));
}

bool Checkpointer::due() const { return rank_of(comm_) == 0 && Clock::now() >= next_; }

void Checkpointer::wait(double seconds) { next_ = Clock::now() + duration(seconds); }

// A run goes on where its state cannot be kept.
bool Checkpointer::write() {
  const Stopwatch watch;
  bool written = false;
  try {
    write_in_order();
    written = true;
  } catch (const AgreedError& error) {
    const std::string note = fmt::format("the state was not kept: {}", error.what());
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  }
  spend(watch.seconds());
  return written;
}

void Checkpointer::write_in_order() const {
  const auto x = std::span<const Array<double>>(x_).first(run_.solves.size());
  const Redistribution* const moved = settings_->moved.get();
  if (!moved) return settings_->file.write(comm_, settings_->identity, run_, settings_->rows, x);
  SavedRun run = run_;
  for (SavedSolve& solve : run.solves)
    for (Array<double>& vector : solve.stopped.directions) vector = moved->back(vector);
  std::vector<Array<double>> solutions;
  for (const Array<double>& vector : x) solutions.push_back(moved->back(vector));
  settings_->file.write(comm_, settings_->identity, run, settings_->rows, solutions);
}

// The next checkpoint is due when all checkpoints, with that one, take no more than their part of
// the time so far.
void Checkpointer::spend(double seconds) {
  spent_ += seconds;
  max_ = std::max(max_, seconds);
  wait(settings_->interval);
  next_ = std::max(next_, begun_ + duration((spent_ + max_) / kMaxPartOfTime));
}

}  // namespace trireme
