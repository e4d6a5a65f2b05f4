// SPDX-License-Identifier: BSD-3-Clause
// Whether a rung of `method: auto` is left before its solve has ended: for complete factors where
// these are expected to take less time than what is still ahead, or for the next rung where the
// residual stands still.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/solves/interlude.hpp"
#include "base/stopwatch.hpp"
#include "petsc/factors/direct_forecast.hpp"
#include "petsc/ksp/ksp_solver.hpp"

namespace trireme {

// What complete factors would cost, asked once for all rungs of a climb, when that seems to pay.
class DirectOffer {
 public:
  using Ask = std::function<std::optional<DirectForecast>()>;  // collective

  // `asking_seconds`: expected of ask().
  // `factors_each`: a sequence makes factors for each of its systems.
  DirectOffer() = default;  // complete factors are no rung
  DirectOffer(Ask ask, double asking_seconds, bool factors_each)
      : ask_(std::move(ask)), asking_seconds_(asking_seconds), factors_each_(factors_each) {}

  bool can_be_asked() const { return ask_ && !asked_; }
  double asking_seconds() const { return asking_seconds_; }
  // Collective.
  void ask();
  // Complete factors were tried.
  void withdraw() {
    ask_ = nullptr;
    forecast_.reset();
  }
  // Expected of complete factors for so many solves; empty: not asked, or they do not serve.
  std::optional<double> seconds(std::int64_t solves) const;
  // That of the forecast, once; or null.
  std::shared_ptr<FactorAnalysis> take_analysis() {
    return forecast_ ? std::exchange(forecast_->analysis, nullptr) : nullptr;
  }
  // Empty: not asked, or MUMPS is missing.
  const std::optional<DirectForecast>& forecast() const { return forecast_; }

 private:
  Ask ask_;
  double asking_seconds_ = 0;
  bool factors_each_ = false;
  bool asked_ = false;
  double slowness_ = 1;  // of this machine, beside that of the forecast
  std::optional<DirectForecast> forecast_;
};

class RungWatch {
 public:
  // `may_stand_still` as of Rung. `spent_before`: seconds of the rungs before. `offer` must outlive
  // this. `clock`: seconds since any time; null: those that pass.
  RungWatch(MPI_Comm comm, DirectOffer& offer, bool may_stand_still, double spent_before,
            std::function<double()> clock = {})
      : comm_(comm),
        offer_(offer),
        may_stand_still_(may_stand_still),
        before_(spent_before),
        clock_(std::move(clock)) {
    if (!clock_) clock_ = [watch = Stopwatch()] { return watch.seconds(); };
  }

  // `solves_after`: how many follow it.
  void solve_begins(std::int64_t solves_after);
  // Every iteration, on every rank: the norm that the method tests.
  void iteration(double norm, double target);
  // The loop was left for something else, for so long.
  void paused(double seconds) { paused_ += seconds; }
  // Asks between two solves what interlude() asks within one. Collective.
  void solve_ends(const KspResult& result);
  // The same of the columns of a block, which took `seconds` together.
  void block_ends(std::int64_t columns, double seconds, std::int64_t solves_after);
  Interlude interlude();

  // Whether the rung is left, and for what. The same on every rank.
  bool leaves() const { return !why_.empty(); }
  bool leaves_for_direct() const { return for_direct_; }
  // The seconds that were ahead at that moment, likewise.
  double left_ahead() const { return left_ahead_; }
  const std::string& why() const { return why_; }

 private:
  enum class Decision : int { go_on, ask, leave_for_direct, leave };

  bool due();
  Decision decide() const;
  // Decides on rank 0, asks where it says so, and decides again. Collective.
  void run();
  double of_this_solve() const { return clock_() - begun_; }  // seconds
  double spent() const;                                       // seconds, by all rungs
  double remaining() const;                                   // seconds of this solve, expected
  double usual_seconds(std::size_t from) const;  // of an iteration after iteration `from`
  double ahead() const;                          // seconds, with the solves after this one
  bool stands_still() const;

  MPI_Comm comm_;
  DirectOffer& offer_;
  bool may_stand_still_;
  double before_;
  double of_solves_ = 0;  // seconds of the solves of this rung that have ended
  std::int64_t solves_ = 0, solves_after_ = 0;
  bool solving_ = false;
  std::function<double()> clock_;
  double begun_ = 0;           // the time at which this solve did
  std::vector<double> best_;   // the least norm so far, for each iteration of this solve
  std::vector<double> times_;  // seconds of iterating so far, likewise
  double paused_ = 0;          // seconds of other work in this solve
  double target_ = 0;
  std::int64_t next_look_ = 0;
  std::string why_;
  bool for_direct_ = false;
  double left_ahead_ = 0;
};

}  // namespace trireme
