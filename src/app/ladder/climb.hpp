// SPDX-License-Identifier: BSD-3-Clause
// `method: auto`: runs one rung after another until a residual holds or nothing is left.
//
//   rung ... solved -> done: the report has all rungs, the cache the one that solved
//     |
//     +-- left, because complete factors are expected to be done sooner -> direct
//     |
//   failed, or left because its residual stands still -> the next rung, from the x so far
//
// Rungs that were left because the residual stood still run once more, to their end, where all
// others have failed.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ladder/rung_watch.hpp"
#include "app/run_kernel.hpp"
#include "planning/rungs.hpp"
#include "report/ladder_outcome.hpp"

namespace trireme {

// What a rung is run with.
struct RungTry {
  const Rung& rung;
  RungWatch* watch;                          // null: it runs to its end
  const std::vector<Array<double>>& from;    // guesses, one per right-hand side; or empty
  std::vector<std::string> tried;            // methods of rungs before it
  std::shared_ptr<FactorAnalysis> analysis;  // of complete factors, or null
  bool last = false;                         // nothing is expected to come after it
  bool first = false;
};

class Ladder {
 public:
  using RunRung = std::function<KernelRun(const RungTry&)>;  // collective; throws AgreedError

  // `seen`: words_of() the matrix. See DirectOffer for `offer`. Not null.
  Ladder(MPI_Comm comm, std::vector<Rung> rungs, LadderOutcome seen, DirectOffer offer)
      : comm_(comm), rungs_(std::move(rungs)), seen_(std::move(seen)), offer_(std::move(offer)) {}

  const std::vector<Rung>& rungs() const { return rungs_; }
  std::size_t begins_at() const { return begins_at_; }
  // The next climb begins with rungs()[k]. `why`: a clause, "an earlier run has ended with it".
  void begin_at(std::size_t k, std::string why);
  // The rung that has solved all systems in the last climb.
  std::optional<std::size_t> found() const { return found_; }

  // Throws what `run` throws, where the first rung cannot run for a reason that no other one would
  // change, or where none could run. Collective; the same outcome on every rank.
  KernelRun climb(const RunRung& run);

 private:
  enum class Fate { untried, passed_over, left, failed, solved };
  struct Climb;

  std::optional<std::size_t> next(const Climb& climb);
  bool serves(std::size_t k, const Climb& climb) const;
  // Runs rung k. False: it could not run, or has failed, and the climb goes on. Collective.
  bool solves(std::size_t k, const RunRung& run, Climb& climb);
  void finish(Climb& climb);

  MPI_Comm comm_;
  std::vector<Rung> rungs_;
  LadderOutcome seen_;
  DirectOffer offer_;
  std::size_t begins_at_ = 0;
  std::string begins_why_;
  std::optional<std::size_t> found_;
};

}  // namespace trireme
