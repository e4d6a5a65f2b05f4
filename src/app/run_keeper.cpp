// SPDX-License-Identifier: BSD-3-Clause
// Going on, checkpoints, and what is left at the end.
#include "app/run_keeper.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

constexpr double kMaxOfTheTime = 0.01;   // for checkpoints
constexpr double kIterationsToGoOn = 3;  // what a loop that goes on does before its first
constexpr std::size_t kLongestHistory = 1'000'000;

std::chrono::steady_clock::duration duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

// Adds to `norms` those of a solve that went on at iteration `before` and came to `iterations`: it
// may tell the first again.
void append(std::vector<double>& norms, const std::vector<double>& told, std::int64_t iterations,
            std::int64_t before) {
  const auto fresh = norms.empty() ? told.size() : static_cast<std::size_t>(iterations - before);
  const std::size_t first = told.size() > fresh ? told.size() - fresh : 0;
  const std::size_t room = kLongestHistory - std::min(kLongestHistory, norms.size());
  const std::size_t last = std::min(told.size(), first + room);
  norms.insert(norms.end(), told.begin() + static_cast<std::ptrdiff_t>(first),
               told.begin() + static_cast<std::ptrdiff_t>(last));
}

}  // namespace

RunKeeper::RunKeeper(MPI_Comm comm, std::optional<Keeping> keeping, Engine engine,
                     std::vector<Array<double>>& x)
    : comm_(comm), keeping_(std::move(keeping)), x_(x) {
  if (!keeping_) return;
  keeping_->identity.push_back({"the engine", std::string(to_string(engine))});
  if (!keeping_->resume) return;
  std::vector<Array<double>> before;
  run_ = keeping_->file.read(comm, keeping_->identity, keeping_->rows, before);
  if (before.size() > x.size())
    fail(ExitCode::input, "the state of the run before has more right-hand sides than the case");
  std::ranges::move(before, x.begin());
}

std::int64_t RunKeeper::iterations_before(std::size_t k) const {
  return k < run_.solves.size() && !run_.solves[k].converged ? run_.solves[k].stopped.iterations
                                                             : 0;
}

SavedSolve& RunKeeper::entry(std::size_t k) {
  if (run_.solves.size() <= k) run_.solves.resize(k + 1);
  return run_.solves[k];
}

KspResult RunKeeper::solve(PetscSolver& solver, Vec b, Vec x, const Solve& what) {
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
    now.stopped = std::move(stopped);
    now.stopped.reference /= unit;
    now.history = norms;
    for (double& norm : now.history) norm /= unit;
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
        "resumed at iteration {}{}: iterations and history are of all runs, times of this one",
        before, x_.size() > 1 ? fmt::format(" of right-hand side {}", what.k + 1) : ""));
  }
  if (keeping_ && keeping_->interval > 0) {
    if (next_ == Clock::time_point::max()) {
      begun_ = Clock::now();
      wait(keeping_->interval);
    }
    // `keep` is for PETSc's own loops, which have not ended then.
    solver.keep_checkpoints({[this] { return due(); },
                             [&](std::int64_t iteration, Vec solution) {
                               const std::vector<double> ended = norms;
                               append(norms, solver.residuals(), before + iteration, before);
                               solvers::StoppedSolve so_far;
                               so_far.iterations = before + iteration;
                               remember(std::move(so_far));
                               norms = ended;
                               keep(solution);
                             }});
  }
  double seconds = 0;
  for (;;) {
    KspResult latest = solver.solve(b, x, what.nonzero_guess || goes_on);
    seconds += latest.seconds;
    append(norms, latest.residuals, latest.iterations, before);
    if (!latest.facts.stopped || !goes_on_after_checkpoints(solver) ||
        InterruptGuard::asked_anywhere(comm_)) {
      solver.keep_checkpoints({});
      if (latest.can_go_on && keeping_) remember(solver.stopped());
      latest.residuals = std::move(norms);
      latest.seconds = seconds;
      return latest;
    }
    remember(solver.stopped());
    keep(x);
    if (latest.iterations > before)
      spend(kIterationsToGoOn * latest.seconds / static_cast<double>(latest.iterations - before));
    before = latest.iterations;
    goes_on = true;
    go_on();
  }
}

bool RunKeeper::goes_on_after_checkpoints(const PetscSolver& solver) const {
  return keeping_ && keeping_->interval > 0 && solver.engine() == Engine::resident;
}

void RunKeeper::solved(std::size_t k, const KspResult& result) {
  SavedSolve& now = entry(k);
  now.converged = result.verdict.converged;
  if (result.can_go_on && !now.converged)
    can_go_on_ = true;
  else
    now.stopped = {};
}

void RunKeeper::begin_round(std::int64_t solves_before) {
  run_ = {.solves_before = solves_before, .solves = {}};
}

void RunKeeper::end(bool converged, bool stopped) {
  if (!keeping_) return;
  const double seconds = spent_;
  if (converged)
    keeping_->file.remove(comm_);
  else if ((can_go_on_ || stopped) && write())
    notes_.emplace_back("solve --resume goes on from here");
  if (checkpoints_ > 0)
    notes_.push_back(fmt::format("{} checkpoint{} while solving, {:.2g} s in all", checkpoints_,
                                 checkpoints_ == 1 ? "" : "s", seconds));
}

bool RunKeeper::due() const { return rank_of(comm_) == 0 && Clock::now() >= next_; }

void RunKeeper::wait(double seconds) { next_ = Clock::now() + duration(seconds); }

// A run does not end because its state cannot be kept.
bool RunKeeper::write() {
  const Stopwatch watch;
  bool written = false;
  try {
    keeping_->file.write(comm_, keeping_->identity, run_, keeping_->rows,
                         std::span<const Array<double>>(x_).first(run_.solves.size()));
    written = true;
  } catch (const AgreedError& error) {
    const std::string note = fmt::format("the state was not kept: {}", error.what());
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  }
  spend(watch.seconds());
  return written;
}

// The next checkpoint is due when it, too, costs no more than its part of the time so far.
void RunKeeper::spend(double seconds) {
  spent_ += seconds;
  max_ = std::max(max_, seconds);
  wait(keeping_->interval);
  next_ = std::max(next_, begun_ + duration((spent_ + max_) / kMaxOfTheTime));
}

}  // namespace trireme
