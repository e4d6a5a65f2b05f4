// SPDX-License-Identifier: BSD-3-Clause
// Decides what `preconditioner: auto` takes, and when it changes. Plain arithmetic: nothing is
// measured here, and every rank that is given the same numbers decides the same.
//
// A preconditioner is an investment: its set-up is paid once, its iterations are fewer and dearer.
// A run begins with the option whose set-up costs nothing. While it iterates, its rate is the
// number of decades by which one iteration reduces the residual norm. An option costs
//
//   set-up, unless it is paid + decades to come * seconds of an iteration / rate
//
// where the decades to come are those left of this solve and those of all solves after it. The rule
// changes to the option with the greatest gain, if kTrust times what the running option is expected
// to cost exceeds what the other one is expected to cost. The rate of a Krylov method rises while
// it runs, so that the rest of a solve is shorter than its present rate says. In the first solve a
// change therefore waits until the time so far, times the number of solves, is that of the set-up:
// the running option takes at least that long, and a run by the rule at most about twice as long as
// by the better of the two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trireme {

// The decades per iteration by which residual norms fall, from the smallest norm of the first third
// to the smallest of all. 0 where they do not fall. `norms` begin with that of iteration 0.
double recent_rate(std::span<const double> norms);

struct PreconditionerOption {
  // Predicted until they are measured.
  double set_up_seconds = 0;
  double iteration_seconds = 0;
  double rate = 0;           // decades per iteration; used where rate_of_first is 0
  double rate_of_first = 0;  // the rate is this multiple of that of options[0]
  bool is_set_up = false;    // the set-up was measured and paid
  bool measured = false;     // so were its iterations, of which the rate is from
  std::string failure{};     // why it cannot be used; empty: it can
  bool may_return = false;   // it was left before a whole solve of options[0] was known
  bool has_solved = false;   // a solve converged with it, at least at its end
  // Of a solve that it did from its beginning to its end; 0: unknown.
  std::int64_t whole_iterations = 0;
};

// Where the solves are.
struct SolveOutlook {
  double decades_left = 0;        // of the solve that runs; 0 between two solves
  double decades_whole = 0;       // of a whole solve
  std::int64_t solves_after = 0;  // the one that runs
  std::int64_t iterations = 0;    // of this solve so far
  double seconds = 0;             // likewise
  bool stale = false;             // the running option has older values than the matrix
};

class PreconditionerRule {
 public:
  static constexpr double kTrust = 0.8;
  // An option that was changed to is left where another one costs less than this part of it.
  static constexpr double kTrustToLeave = 0.7;
  // The same where it has solved, and the other one has never run: its rate is a multiple of that
  // of the first iterations of options[0], which promise too much.
  static constexpr double kTrustInPromise = 0.4;
  // The same where it has solved, and the other one was left before it had: little is known of it
  // but the iterations in which its residual fell fast.
  static constexpr double kTrustInBeginning = 0.1;
  static constexpr std::int64_t kFirstLook = 8;  // iterations of the option that a run begins with
  static constexpr std::int64_t kFirstLookBack = 4;  // iterations of an option that was changed to
  static constexpr double kFarthest =
      10;  // a rest is at most this multiple of the iterations so far

  // options[0] is the one that a run begins with.
  explicit PreconditionerRule(std::vector<PreconditionerOption> options);

  // Seconds of an option's set-up and of its iteration, where they have not been measured.
  void predict(std::size_t option, double set_up_seconds, double iteration_seconds);
  // Notes what the running option has shown: the norms since it took over in this solve, from the
  // norm at which it did, and the seconds that these iterations took.
  void observe(std::span<const double> norms, double seconds);
  // A solve that one option did alone from its beginning took so many iterations and seconds.
  void solved(std::int64_t iterations, double decades, double seconds);

  // A solve has converged with the running option.
  void converged() { options_[running_].has_solved = true; }

  // The option that is worth a change at this point, if any.
  std::optional<std::size_t> next(const SolveOutlook& outlook) const;
  void changed_to(std::size_t option, double set_up_seconds);
  // The running option is left, which frees what its set-up made. It may be taken again where it
  // was judged by what options[0] had promised, and a whole solve of options[0] takes longer.
  void leave(std::string why);
  // The option is not taken again.
  void failed(std::size_t option, std::string why);

  std::size_t running() const { return running_; }
  std::span<const PreconditionerOption> options() const { return options_; }
  // Expected seconds of a whole solve that the option does alone, without its set-up; empty where
  // nothing is known of its rate.
  std::optional<double> solve_seconds(std::size_t option, double decades) const;
  // After how many solves the set-up of an option has paid against another one; empty: never, or
  // unknown.
  std::optional<std::int64_t> pays_after(std::size_t option, std::size_t other,
                                         double decades) const;
  // Why an option does not run, in words.
  std::string why_not(std::size_t option, const SolveOutlook& outlook) const;

 private:
  // The part of what the running option costs, below which `option` must be.
  double trust_in(const PreconditionerOption& option, const SolveOutlook& outlook) const;
  bool can_be_taken(const PreconditionerOption& option) const;
  double rate_of(std::size_t option) const;
  // Iterations that the option needs for so many decades, of a solve that has done `iterations`.
  double iterations_for(std::size_t option, double decades, std::int64_t iterations) const;
  double expected_seconds(std::size_t option, const SolveOutlook& outlook) const;

  std::vector<PreconditionerOption> options_;
  std::size_t running_ = 0;
  std::int64_t observed_ = 0;  // iterations of the running option in this solve
};

}  // namespace trireme
