// SPDX-License-Identifier: BSD-3-Clause
// What a run adds to the search: agreement of the ranks, renewals, blocks of columns.
#include "app/solves/preconditioner_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "planning/preconditioner_candidates.hpp"
#include "solvers/preconditioners/list.hpp"

namespace trireme {
namespace {

// The time of a column of a block, as a part of the time of a solve by itself.
constexpr double kBlockGain = 0.5;

PreconditionerCandidates candidates(const DistributedMatrix& matrix, const Amat& amat,
                                    const KspSolver& solver) {
  const std::shared_ptr<Operator> op = amat.shared_operator();
  return preconditioner_candidates(matrix, {.preconditioner = solver.preconditioner(),
                                            .method = solver.method(),
                                            .on_gpu = amat.on_gpu(),
                                            .in_order = op && op->ordered()});
}

std::string why_no_changes(const KspSolver& solver) {
  const AnyPreconditioner first = solver.preconditioner();
  if (solver.engine() != Engine::resident)
    return "PETSc's loop is not left for another preconditioner";
  if (first.is(solvers::PreconditionerKind::none))
    return "a row has a zero on the diagonal, by which the others divide";
  if (!first.is(solvers::PreconditionerKind::jacobi)) return "an option of PETSc names it";
  return {};
}

}  // namespace

PreconditionerTuning::PreconditionerTuning(const DistributedMatrix& matrix, Amat& amat,
                                           KspSolver& solver, PreconditionerClock clock)
    : comm_(matrix.comm),
      amat_(amat),
      solver_(solver),
      clock_(std::move(clock)),
      began_with_(solver.preconditioner_words()),
      nothing_to_choose_(why_no_changes(solver)),
      search_(candidates(matrix, amat, solver), *this,
              {.makes_changes = nothing_to_choose_.empty(), .counts_longest = false}) {
  bool may_be_found = false;
  for (std::size_t k = 0; k < search_.candidates().size(); ++k)
    may_be_found |=
        search_.rule().options()[k].failure.empty() && can_be_found(search_.candidates()[k]);
  if (nothing_to_choose_.empty() && may_be_found && !amat.on_gpu())
    found_ = solver.expects_to_find_multigrid();
}

double PreconditionerTuning::change_preconditioner(const AnyPreconditioner& preconditioner) {
  return solver_.change_preconditioner(preconditioner);
}

double PreconditionerTuning::product_seconds() const {
  if (clock_.product_seconds) return clock_.product_seconds();
  std::vector<float> us = amat_.times().kept();
  if (us.empty()) return 0;
  std::ranges::nth_element(us, us.begin() + std::ssize(us) / 2);
  return 1e-6 * static_cast<double>(us[us.size() / 2]);
}

double PreconditionerTuning::iteration_seconds(double measured) const {
  return clock_.iteration_seconds ? clock_.iteration_seconds(running()) : measured;
}

std::optional<std::size_t> PreconditionerTuning::decide(std::optional<std::size_t> next) const {
  std::int64_t k = next ? static_cast<std::int64_t>(*next) : -1;
  MPI_Bcast(&k, 1, MPI_INT64_T, 0, comm_);
  if (k < 0) return std::nullopt;
  const std::size_t now = search_.rule().running();
  return now != 0 && stale_ ? now : static_cast<std::size_t>(k);
}

bool PreconditionerTuning::note(const std::optional<PreconditionerChange>& change) {
  if (!change) return false;
  if (!change->failure.empty()) return true;
  change_ = change;
  stale_ = false;
  if (change->option == 0)
    changed_at_.reset();
  else if (search_.solves() == 0 && !change->renewal)
    changed_at_ = change->iteration;
  return true;
}

void PreconditionerTuning::solve_begins(std::int64_t solves_after) {
  most_solves_ = std::max(most_solves_, search_.solves() + solves_after + 1);
  note(search_.solve_begins(solves_after));
}

void PreconditionerTuning::solve_ends(const KspResult& result) {
  search_.solve_ends(result.verdict.converged, result.seconds);
}

void PreconditionerTuning::block_ends(std::span<const KspResult> results, double seconds) {
  std::int64_t sum = 0;
  for (const KspResult& result : results) sum += result.iterations;
  const auto columns = static_cast<double>(results.size());
  const std::int64_t mean = std::llround(static_cast<double>(sum) / columns);
  const bool converged =
      std::ranges::all_of(results, [](const KspResult& r) { return r.verdict.converged; });
  search_.unseen_solve_ends(converged ? mean : 0, seconds / (kBlockGain * columns));
}

// The cache is for the values with which the run began.
void PreconditionerTuning::values_changed(bool preconditioner_has_them) {
  stale_ = !preconditioner_has_them;
  found_ = false;
}

bool PreconditionerTuning::falls_back(std::span<const KspResult> results) {
  const auto failed = std::ranges::find_if(results, [](const KspResult& result) {
    return !result.verdict.converged && !result.can_go_on &&
           result.verdict.reason != KSP_DIVERGED_ITS && !result.facts.stopped;
  });
  if (search_.rule().running() == 0 || failed == results.end()) return false;
  return note(search_.fall_back(fmt::format("left: {}", failed->verdict.text)));
}

std::vector<AnyPreconditioner> PreconditionerTuning::left() const {
  std::vector<AnyPreconditioner> left;
  for (std::size_t k = 0; k < search_.candidates().size(); ++k) {
    const std::string& failure = search_.rule().options()[k].failure;
    if (failure.starts_with("left") || failure.starts_with("not possible"))
      left.push_back(search_.candidates()[k]);
  }
  return left;
}

Interlude PreconditionerTuning::interlude() {
  if (!nothing_to_choose_.empty()) return {};
  return {[this] { return search_.due(); },
          [this] { return note(search_.change()) ? After::new_space : After::go_on; }};
}

}  // namespace trireme
