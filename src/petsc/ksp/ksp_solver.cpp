// SPDX-License-Identifier: BSD-3-Clause
// Solves by a KSP that is set up, and what is said of it.
#include "petsc/ksp/ksp_solver.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_block.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/row_order.hpp"
#include "petsc/pc/pc_approximate_inverses.hpp"
#include "petsc/pc/pc_incomplete_factors.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

constexpr const char* kStopped = "not converged: stopped by a signal, with the solution so far";

}  // namespace

// The preconditioner that need not be symmetric where the method needs a definite one; empty: there
// is none.
std::string_view KspSolver::unsymmetric_preconditioner() const {
  const auto known = solvers::method_named(method());
  if (!known || !known->info.symmetric) return {};
  PC pc = pc_of(ksp_);
  if (type_of(pc) == PCBJACOBI) {
    KSP* blocks = nullptr;
    PetscInt count = 0;
    petsc_check(PCBJacobiGetSubKSP(pc, &count, nullptr, &blocks));
    if (count > 0) pc = pc_of(blocks[0]);
  }
  if (type_of(pc) == kTriremeSpai) return solvers::name_of(solvers::PreconditionerKind::spai);
  if (type_of(pc) == PCILU || type_of(pc) == kTriremeIlu)
    return solvers::name_of(solvers::PreconditionerKind::ilu);
  return {};
}

void KspSolver::require_residual_test() const {
  KSPNormType norm = KSP_NORM_NONE;
  PetscBool other_test = PETSC_FALSE;
  petsc_check(KSPGetNormType(ksp_, &norm));
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-ksp_convergence_test", &other_test));
  if (norm == KSP_NORM_NONE || other_test)
    fail(ExitCode::usage,
         "precision: mixed corrects residuals by the norm of PETSc's default test; remove {}, or "
         "use precision: double",
         other_test ? "-ksp_convergence_test" : "-ksp_norm_type none");
}

void KspSolver::choose_row_order() {
  if (engine() == Engine::resident) trireme::choose_row_order(ksp_);
}

bool KspSolver::row_order_is_free() const {
  return engine() == Engine::resident && trireme::row_order_is_free(ksp_);
}

std::int64_t KspSolver::max_iterations() const {
  PetscInt value = 0;
  petsc_check(KSPGetTolerances(ksp_, nullptr, nullptr, nullptr, &value));
  return value;
}

void KspSolver::prepare() {
  const Stopwatch watch;
  ksp_prepare(ksp_);
  setup_seconds_ += watch.seconds();
}

double KspSolver::scaled_atol(int exponent) const {
  constexpr double kMax = 1e300;
  return std::min(std::ldexp(unscaled_atol_, -exponent), kMax);
}

void KspSolver::scale_tolerance(int exponent, double unit, double part) {
  if (exponent == exponent_of_atol_ && unit == unit_of_atol_ && part == part_of_tolerance_) return;
  const double asked = rtol();
  exponent_of_atol_ = exponent;
  unit_of_atol_ = unit;
  part_of_tolerance_ = part;
  petsc_check(KSPSetTolerances(ksp_, asked * part, scaled_atol(exponent) * unit * part,
                               PETSC_DEFAULT, PETSC_DEFAULT));
}

void KspSolver::scale_tolerance(std::span<const int> exponents, std::vector<double> units) {
  exponents_of_block_.assign(exponents.begin(), exponents.end());
  units_of_block_ = std::move(units);
}

// Refinement by the factors of older values, or by those of cuDSS, may fail, where another
// preconditioner would only be slower.
KspResult KspSolver::solve(Vec b, Vec x, bool nonzero_guess) {
  const auto has_others = [&] { return has_old_values_ || (factors_ && factors_->has_others()); };
  if (!spec_.is_direct() || !has_others()) return solve_once(b, x, nonzero_guess);
  VecHandle guess;
  petsc_check(VecDuplicate(x, guess.put()));
  petsc_check(nonzero_guess ? VecCopy(x, guess) : VecSet(guess, 0));
  const std::int64_t before = iterations_before_;
  double seconds = 0, renewed_seconds = 0;
  for (;;) {
    KspResult result = solve_once(b, x, nonzero_guess);
    result.seconds = seconds += result.seconds;
    result.facts.renewed_seconds = renewed_seconds;
    if (result.verdict.converged || result.facts.stopped || !has_others()) return result;
    if (has_old_values_) {
      renewed_seconds += take_values(Renewing::numbers);
    } else {
      factors_->take_others("refinement by cuDSS's factors, which replace small pivots, failed");
      setup_seconds_ += take_values(Renewing::numbers);
    }
    iterations_before_ = before;
    petsc_check(VecCopy(guess, x));
  }
}

KspResult KspSolver::solve_once(Vec b, Vec x, bool nonzero_guess) {
  const MPI_Comm comm = comm_of(amat_);
  const bool resident = engine() == Engine::resident;
  if (resident && !nonzero_guess) ksp_ignore_guess(ksp_);
  petsc_check(
      KSPSetInitialGuessNonzero(ksp_, resident || nonzero_guess ? PETSC_TRUE : PETSC_FALSE));
  MPI_Barrier(comm);
  std::optional<EndedBySignal> signal;
  std::optional<LowerIterationLimit> limit;
  if (resident)
    ksp_set_stop(ksp_, [this] {
      return InterruptGuard::asked() || (checkpoints_.due && checkpoints_.due());
    });
  else if (type() != KSPTSIRM)  // this type reads the context of its test itself
    signal.emplace(ksp_, checkpoints_, row_sizes_, spec_.is_direct());
  const std::int64_t before = std::exchange(iterations_before_, 0);
  if (before > 0) limit.emplace(ksp_, before);
  const Stopwatch watch;
  petsc_check(KSPSolve(ksp_, b, x));
  petsc_check(KSPSetInitialGuessNonzero(ksp_, nonzero_guess ? PETSC_TRUE : PETSC_FALSE));
  KspResult result;
  result.seconds = max_over_ranks(comm, watch.seconds());
  result.verdict = verdict_of(ksp_);
  if (resident)
    result.facts = *ksp_facts(ksp_);
  else if (signal)
    result.facts.stopped = signal->stopped();
  if (!resident && signal && signal->stands_still()) {
    result.facts.stagnated = true;
    result.verdict = verdict_of(KSP_DIVERGED_ITS, true);
  }
  if (factors_) explain_factors(result);
  const std::string_view unsymmetric = unsymmetric_preconditioner();
  if (result.verdict.exit_code == ExitCode::breakdown && !unsymmetric.empty())
    result.verdict.text = fmt::format(
        "breakdown: {} needs a symmetric positive definite preconditioner, and {} need not be "
        "that; use preconditioner {} or {}, or method bicgstab ({})",
        method(), unsymmetric, solvers::name_of(solvers::PreconditionerKind::jacobi),
        solvers::name_of(solvers::PreconditionerKind::icc),
        KSPConvergedReasons[static_cast<int>(result.verdict.reason)]);
  if (result.facts.stopped) result.verdict.text = kStopped;
  PetscInt iterations = 0;
  petsc_check(KSPGetIterationNumber(ksp_, &iterations));
  result.iterations = iterations_ = before + iterations;
  result.can_go_on = result.verdict.exit_code == ExitCode::not_converged &&
                     !result.facts.stagnated &&
                     (result.facts.stopped || result.verdict.reason == KSP_DIVERGED_ITS);
  result.residuals = residuals();
  return result;
}

// Puts what is known of the factors in place of what PETSc says of a solve that has failed.
void KspSolver::explain_factors(KspResult& result) {
  constexpr int kPreconditionerFailed = -11;  // its name changes between releases of PETSc
  Verdict& verdict = result.verdict;
  if (verdict.converged || result.facts.stopped) return;
  const int reason = static_cast<int>(verdict.reason);
  const auto says = [&](ExitCode code, const std::string& why) {
    verdict.exit_code = code;
    verdict.text = fmt::format("breakdown: {} ({})", why, KSPConvergedReasons[reason]);
  };
  if (const std::optional<NoFactors>& none = factors_->none();
      none && reason == kPreconditionerFailed)
    says(none->code, none->why);
  else if (const std::string singular = spec_.is_direct() ? factors_->about_singularity() : "";
           !singular.empty())
    says(ExitCode::breakdown, singular + "; no x was found that solves it for this b");
}

std::vector<std::string> KspSolver::notes() const {
  std::vector<std::string> notes = notes_;
  if (factors_)
    for (std::string& note : factors_->notes()) notes.push_back(std::move(note));
  return notes;
}

bool KspSolver::solves_blocks() const {
  return (is_by_factors() || ksp_solves_blocks(ksp_)) && printing_option(ksp_).empty();
}

bool KspSolver::preconditions_one_by_one() const {
  return !is_by_factors() && ksp_preconditions_one_by_one(ksp_);
}

std::int64_t KspSolver::block_bytes(std::int64_t width) const {
  if (!is_by_factors()) return ksp_block_bytes(ksp_, width);
  constexpr std::int64_t kBeforeAndAfter = 2;
  return kBeforeAndAfter * width * matrix_->local_rows() * std::int64_t{sizeof(double)};
}

std::vector<KspResult> KspSolver::solve_block(MultiVector<const double> b, MultiVector<double> x,
                                              bool nonzero_guess) {
  if (is_by_factors()) return solve_block_by_factors(b, x, nonzero_guess);
  const MPI_Comm comm = comm_of(amat_);
  std::vector<double> atol;
  for (const int exponent : exponents_of_block_) atol.push_back(scaled_atol(exponent));
  for (std::size_t k = 0; k < units_of_block_.size(); ++k) atol.at(k) *= units_of_block_[k];
  if (!atol.empty() && std::ssize(atol) != b.width)
    fail(ExitCode::internal, "a block of {} columns was given {} exponents", b.width, atol.size());
  ksp_set_stop(ksp_, &InterruptGuard::asked);
  MPI_Barrier(comm);
  const Stopwatch watch;
  petsc_check(KSPSetUp(ksp_));
  begin_history(ksp_);
  std::vector<KspColumn> columns = ksp_solve_block(ksp_, {.b = b,
                                                          .x = x,
                                                          .zero_guess = !nonzero_guess,
                                                          .atol = atol,
                                                          .longest_history = std::ssize(history_)});
  const double seconds = max_over_ranks(comm, watch.seconds());
  std::vector<KspResult> results;
  iterations_ = 0;
  for (KspColumn& column : columns) {
    results.push_back({.verdict = verdict_of(column.reason, column.facts.stagnated),
                       .iterations = column.iterations,
                       .seconds = seconds,
                       .facts = std::move(column.facts),
                       .residuals = std::move(column.residuals)});
    if (results.back().facts.stopped) results.back().verdict.text = kStopped;
    iterations_ = std::max(iterations_, column.iterations);
  }
  return results;
}

std::vector<double> KspSolver::residuals() const {
  PetscInt recorded = 0;
  petsc_check(KSPGetResidualHistory(ksp_, nullptr, &recorded));
  return {history_.begin(), history_.begin() + recorded};
}

solvers::StoppedSolve KspSolver::stopped() const {
  if (engine() == Engine::resident) return ksp_stopped_solve(ksp_);
  solvers::StoppedSolve stopped;
  stopped.iterations = iterations_;
  return stopped;
}

void KspSolver::go_on(const solvers::StoppedSolve& stopped) {
  if (engine() == Engine::resident)
    ksp_go_on(ksp_, stopped);
  else
    iterations_before_ = stopped.iterations;
}

std::string KspSolver::type() const {
  KSPType name = nullptr;
  petsc_check(KSPGetType(ksp_, &name));
  return name ? name : "";
}

std::string KspSolver::method() const {
  const std::string name = type();
  if (spec_.is_direct() && name == KSPRICHARDSON) return std::string(kDirect);
  const auto resident = resident_method(name);
  const auto method = resident ? resident : solvers::method_named(name);
  return method ? std::string(method->info.name) : name;
}

Engine KspSolver::engine() const {
  return resident_method(type()) ? Engine::resident : Engine::petsc;
}

AnyPreconditioner KspSolver::preconditioner() const { return preconditioner_of(pc_of(ksp_)); }

std::string KspSolver::preconditioner_words() const {
  const std::string name = preconditioner().name();
  return block_preconditioner_ ? fmt::format("{}/{}", name, block_preconditioner_->name()) : name;
}

bool KspSolver::has_multigrid() const {
  const MultigridPc* const pc = multigrid_of(pc_of(ksp_));
  return pc && pc->is_set_up();
}

std::optional<multigrid::HierarchyFacts> KspSolver::multigrid() const {
  const MultigridPc* const pc = multigrid_of(pc_of(ksp_));
  return pc ? pc->facts() : std::nullopt;
}

double KspSolver::saved_seconds() const {
  const MultigridPc* const pc = multigrid_of(pc_of(ksp_));
  if (!pc || !pc->hierarchy()) return 0;
  const std::optional<multigrid::ReadFacts> read = pc->hierarchy()->facts().read;
  return read ? read->saved : 0;
}

double KspSolver::rtol() const {
  PetscReal value = 0;
  petsc_check(KSPGetTolerances(ksp_, &value, nullptr, nullptr, nullptr));
  return value / part_of_tolerance_;
}

double KspSolver::atol() const { return scaled_atol(exponent_of_atol_); }

double KspSolver::loop_target(double reference) const {
  PetscReal rtol = 0, atol = 0;
  petsc_check(KSPGetTolerances(ksp_, &rtol, &atol, nullptr, nullptr));
  return std::max(rtol * reference, atol);
}

double KspSolver::divergence_bound() const {
  PetscReal value = 0;
  petsc_check(KSPGetTolerances(ksp_, nullptr, nullptr, &value, nullptr));
  return value;
}

solvers::RowTest KspSolver::row_test() const {
  using solvers::RowTest;
  PetscBool chosen = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-ksp_norm_type", &chosen));
  const KspRequests asked = requests_of(ksp_);
  if (chosen || asked.own_test || asked.limit_is_success || asked.relative_to_initial_residual ||
      asked.relative_to_smaller || spec_.norm == SmallNorm::residual)
    return RowTest::none;
  return spec_.norm == SmallNorm::rows ? RowTest::only : RowTest::both;
}

bool KspSolver::may_leave_out_guess() const {
  const KspRequests asked = requests_of(ksp_);
  return !asked.relative_to_initial_residual && !asked.own_test;
}

bool KspSolver::measures_first_residual() const {
  const KspRequests asked = requests_of(ksp_);
  return asked.norm == KSP_NORM_UNPRECONDITIONED && !asked.relative_to_initial_residual &&
         !asked.relative_to_smaller;
}

double KspSolver::reference(double unit, double first_norm) const {
  const KspRequests asked = requests_of(ksp_);
  if (asked.relative_to_initial_residual) return first_norm;
  return asked.relative_to_smaller ? std::min(unit, first_norm) : unit;
}

}  // namespace trireme
