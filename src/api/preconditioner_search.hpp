// SPDX-License-Identifier: BSD-3-Clause
// `preconditioner: auto` of a Solver: the search of planning/preconditioner_search.hpp in a Loop,
// with what the reports of its solves say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/loop.hpp"
#include "api/ranks.hpp"
#include "planning/preconditioner_search.hpp"

namespace trireme::api {

class PreconditionerSearch final : private ChangeableSolver {
 public:
  // `loop` works with first_preconditioner(). It and `ranks` must outlive this. Collective, as is
  // each function that may change the preconditioner.
  PreconditionerSearch(const Ranks& ranks, const DistributedMatrix& matrix, std::string_view method,
                       Loop& loop);
  PreconditionerSearch(const PreconditionerSearch&) = delete;
  PreconditionerSearch& operator=(const PreconditionerSearch&) = delete;

  // Makes a change that pays for so many solves ahead, after a solve.
  void between_solves(std::int64_t solves_ahead) { note(search_.between_solves(solves_ahead)); }
  // Comes before each solve, of which so many follow, with what between_solves() does.
  void solve_begins(std::int64_t solves_after) { note(search_.solve_begins(solves_after)); }
  // The norm that the method tests, in every iteration.
  void iteration(double norm, double target) { search_.iteration(norm, target); }
  // Whether the loop is to be left for a change; change() makes it then.
  bool due() { return search_.due(); }
  void change() { note(search_.change()); }
  // The solve has ended. False: it failed by a preconditioner that was changed to, and is to be
  // repeated with the first one, to which the loop has been brought back.
  bool solve_ends(bool converged, bool failed);

  double set_up_seconds() const { return set_up_seconds_; }  // of all changes
  // Those since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  double change_preconditioner(const AnyPreconditioner& preconditioner) override;
  double product_seconds() const override { return 1e-6 * loop_.product_microseconds(); }
  bool on_gpu() const override { return loop_.on_gpu(); }
  // That of rank 0, by its clock.
  std::optional<std::size_t> decide(std::optional<std::size_t> next) const override {
    return ranks_.first(next);
  }
  void note(const std::optional<PreconditionerChange>& change);

  const Ranks& ranks_;
  Loop& loop_;
  trireme::PreconditionerSearch search_;
  double set_up_seconds_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace trireme::api
