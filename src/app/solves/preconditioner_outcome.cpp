// SPDX-License-Identifier: BSD-3-Clause
// What the report says of `preconditioner: auto`.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/solves/preconditioner_tuning.hpp"
#include "parallel/broadcast.hpp"
#include "planning/preconditioner_candidates.hpp"

namespace trireme {
namespace {

void agree(MPI_Comm comm, bool& answer) { MPI_Bcast(&answer, 1, MPI_C_BOOL, 0, comm); }
void agree(MPI_Comm comm, double& number) { MPI_Bcast(&number, 1, MPI_DOUBLE, 0, comm); }
void agree(MPI_Comm comm, std::int64_t& number) { MPI_Bcast(&number, 1, MPI_INT64_T, 0, comm); }
void agree(MPI_Comm comm, std::string& text) { text = broadcast(comm, std::move(text), 0); }
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

PreconditionerChoice PreconditionerTuning::outcome() const {
  const PreconditionerRule& rule = search_.rule();
  const double decades = search_.decades_whole();
  PreconditionerChoice choice;
  choice.began_with = began_with_;
  choice.solves = most_solves_;
  choice.changed_at = changed_at_;
  SolveOutlook whole{.decades_whole = decades};
  for (std::size_t k = 0; k < rule.options().size(); ++k) {
    const PreconditionerOption& option = rule.options()[k];
    PreconditionerCandidate candidate;
    candidate.name = k == 0 ? began_with_ : search_.candidates()[k].name();
    candidate.chosen = k == rule.running();
    candidate.measured = option.measured;
    const bool known = option.iteration_seconds > 0 && nothing_to_choose_.empty();
    if (known) {
      candidate.set_up_seconds = option.set_up_seconds;
      candidate.iteration_us = 1e6 * option.iteration_seconds;
      candidate.solve_seconds = rule.solve_seconds(k, decades);
      if (k != 0) candidate.pays_after = rule.pays_after(k, 0, decades);
    }
    if (!nothing_to_choose_.empty())
      candidate.verdict = k == 0 ? nothing_to_choose_ : "not tried";
    else if (!candidate.chosen)
      candidate.verdict = rule.why_not(k, whole);
    else if (k == 0)
      candidate.verdict = "the run began with it, and no change was expected to pay";
    else
      candidate.verdict =
          candidate.pays_after
              ? fmt::format("its set-up has paid after {} solve{}", *candidate.pays_after,
                            *candidate.pays_after == 1 ? "" : "s")
              : std::string("its set-up and solves were expected to take less time");
    if (found_ && can_be_found(search_.candidates()[k]))
      candidate.verdict += "; the cache has its hierarchy";
    choice.candidates.push_back(std::move(candidate));
  }
  std::stable_partition(choice.candidates.begin(), choice.candidates.end(),
                        [](const auto& c) { return c.chosen; });
  agree(comm_, choice);
  return choice;
}

}  // namespace trireme
