// SPDX-License-Identifier: BSD-3-Clause
#include "api/preconditioner_search.hpp"

#include <fmt/format.h>

#include "base/stopwatch.hpp"

namespace trireme::api {

PreconditionerSearch::PreconditionerSearch(const Ranks& ranks, const DistributedMatrix& matrix,
                                           std::string_view method, Loop& loop)
    : ranks_(ranks),
      loop_(loop),
      search_(preconditioner_candidates(matrix, {.preconditioner = loop.preconditioner(),
                                                 .method = std::string(method),
                                                 .on_gpu = loop.on_gpu(),
                                                 .in_order = false}),
              *this,
              {.makes_changes = loop.preconditioner().is(solvers::PreconditionerKind::jacobi),
               .counts_longest = true}) {}

double PreconditionerSearch::change_preconditioner(const AnyPreconditioner& preconditioner) {
  const Stopwatch watch;
  loop_.change_preconditioner(preconditioner);
  return watch.seconds();
}

void PreconditionerSearch::note(const std::optional<PreconditionerChange>& change) {
  if (!change) return;
  set_up_seconds_ += change->seconds;
  if (!change->failure.empty())
    notes_.push_back(fmt::format("preconditioner {} is not possible: {}",
                                 word_of(search_.candidates()[change->option]), change->failure));
}

bool PreconditionerSearch::solve_ends(bool converged, bool failed) {
  if (failed && search_.rule().running() != 0) {
    notes_.push_back(fmt::format("preconditioner {} was left: the solve failed with it",
                                 word_of(search_.running())));
    note(search_.fall_back("left: the solve failed with it"));
    return false;
  }
  search_.solve_ends(converged);
  return true;
}

}  // namespace trireme::api
