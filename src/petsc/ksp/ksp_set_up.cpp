// SPDX-License-Identifier: BSD-3-Clause
// How a KspSolver chooses its engine, types, norm and matrices, in the order that PETSc wants.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/block_size.hpp"
#include "petsc/pc/near_nullspace.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "planning/acceptance.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kLongestHistory = 1'000'000;

PetscErrorCode call_monitor(KSP, PetscInt iteration, PetscReal norm, void* context) {
  const auto* monitor = static_cast<KspSolver::Monitor*>(context);
  if (*monitor) (*monitor)(iteration, norm);
  return kPetscSuccess;
}

// Methods that offer the unpreconditioned norm and compute it wrongly (3.18 to 3.26): cr adds where
// its recurrence subtracts, bcgsl stops with another residual than it reports.
bool wrong_about_the_residual(const std::string& method) {
  return method == KSPCR || method == KSPBCGSL;
}

// Factorisations of PETSc need them where they are zero too, and so does MUMPS on several ranks.
// Collective.
bool lacks_diagonal_entries(Mat assembled) {
  PetscBool missing = PETSC_FALSE;
  petsc_check(MatMissingDiagonal(assembled, &missing, nullptr));
  return any_rank(comm_of(assembled), missing == PETSC_TRUE);
}

}  // namespace

KspSolver::KspSolver(const SolverSpec& spec, Mat amat, Mat assembled,
                     const std::shared_ptr<const DistributedMatrix>& matrix, const Modes& modes,
                     multigrid::HierarchyStore store, std::shared_ptr<FactorAnalysis> analysis)
    : spec_(spec), store_(std::move(store)), matrix_(matrix), amat_(amat) {
  const Stopwatch watch;
  set_near_nullspace(amat, modes);
  petsc_check(KSPCreate(comm_of(amat), ksp_.put()));
  petsc_check(KSPSetOperators(ksp_, amat, amat));
  register_resident_types();
  choose_engine(spec);
  petsc_check(KSPSetErrorIfNotConverged(ksp_, PETSC_FALSE));
  petsc_check(KSPMonitorSet(ksp_, call_monitor, &monitor_, nullptr));
  choose_norm();
  ksp_drop_worse_guesses(ksp_);
  take_magnitudes();
  take_row_sizes();
  choose_parallel_factorisation();

  require_nonzero_diagonal(*matrix, pc_of(ksp_));
  note_a_block_size_of_one();
  const bool by_groups = type_of(pc_of(ksp_)).ends_with(PCVPBJACOBI);
  if (by_groups) set_row_groups(amat, *matrix);
  if (needs_entries(pc_of(ksp_))) give_entries(assembled, matrix, modes);
  if (spec.is_direct() && spec.preconditioner && !spec.names_factors())
    notes_.push_back(
        fmt::format("method {} factors the matrix and does not use preconditioner {}; {} or {} "
                    "would say which factors",
                    kDirect, spec.preconditioner->name(), kLu, kCholesky));
  if (is_complete_factorisation(preconditioner()))
    factors_ =
        std::make_unique<CompleteFactors>(ksp_, *matrix, spec.is_direct() && !spec.names_factors(),
                                          spec.is_direct(), std::move(analysis));
  set_up_given();
  set_up_ksp(ExitCode::usage);
  set_block_factorisation();
  set_up_blocks();

  PetscInt max_iterations = 0;  // an option may have changed it
  petsc_check(KSPGetTolerances(ksp_, nullptr, nullptr, nullptr, &max_iterations));
  unscaled_atol_ = loop_target(0);
  history_.resize(std::clamp(max_iterations + std::int64_t{1}, std::int64_t{1}, kLongestHistory));
  petsc_check(KSPSetResidualHistory(ksp_, history_.data(), static_cast<PetscInt>(history_.size()),
                                    PETSC_TRUE));
  setup_seconds_ = watch.seconds();
}

// Ahead of KSPSetUp, through which an error would lose its exit code.
void KspSolver::set_up_given() {
  GivenPc* const given = given_pc_of(pc_of(ksp_));
  if (!given) return;
  ksp_place_preconditioner(ksp_);
  if (MultigridPc* const multigrid = multigrid_of(pc_of(ksp_))) multigrid->use_store(store_);
  given->set_up(pc_of(ksp_));
}

void KspSolver::set_up_blocks() {
  const auto set_up = [&] { petsc_check(KSPSetUpOnBlocks(ksp_), ExitCode::input); };
  if (blocks_belong_to_ranks(pc_of(ksp_)))  // one rank may fail where the others do not
    collectively(comm_of(amat_), set_up);
  else
    set_up();
}

void KspSolver::set_up_ksp(ExitCode code) {
  if (factors_)
    factors_->set_up();
  else
    petsc_check(KSPSetUp(ksp_), code);
}

double KspSolver::take_values(Renewing renewing) {
  const Stopwatch watch;
  const bool by_host = renewing != Renewing::nothing && !ksp_renew_on_device(ksp_);
  if (GivenPc* const given = given_pc_of(pc_of(ksp_)); given && renewing == Renewing::everything)
    given->forget_patterns();
  petsc_check(KSPSetReusePreconditioner(ksp_, by_host ? PETSC_FALSE : PETSC_TRUE));
  if (by_host) {
    require_nonzero_diagonal(*matrix_, pc_of(ksp_));
    Mat pmat = amat_;
    petsc_check(KSPGetOperators(ksp_, nullptr, &pmat));
    if (pmat_) pmat_->refresh_values();
    petsc_check(KSPSetOperators(ksp_, amat_, pmat));
    set_up_given();
    set_up_ksp(ExitCode::input);
    set_up_blocks();
  }
  has_old_values_ = renewing == Renewing::nothing;
  take_row_sizes();
  ksp_prepare(ksp_);
  return max_over_ranks(comm_of(amat_), watch.seconds());
}

void KspSolver::set_types(const SolverSpec& spec, const std::string& type,
                          const std::string& pc_type) {
  petsc_check(KSPSetType(ksp_, type.c_str()), ExitCode::usage);
  petsc_check(PCSetType(pc_of(ksp_), pc_type.c_str()), ExitCode::usage);
  if (MultigridPc* const multigrid = multigrid_of(pc_of(ksp_)))
    multigrid->set(multigrid_options(spec));
  const auto max_iterations = static_cast<PetscInt>(
      std::min<std::int64_t>(spec.max_iterations, std::numeric_limits<PetscInt>::max() - 1));
  petsc_check(KSPSetTolerances(ksp_, spec.rtol, spec.atol, kDivergenceBound, max_iterations));
  if (spec.measure_variant) ksp_measure_variant(ksp_);
  ksp_set_restart(ksp_, spec.restart);
  petsc_check(KSPSetFromOptions(ksp_), ExitCode::usage);
}

// The resident engine reads its options when its types are set, and they may ask for what it lacks.
// So its types are set first, and PETSc's where the resident engine turns out not to serve.
void KspSolver::choose_engine(const SolverSpec& spec) {
  const AnyPreconditioner asked = spec.first_preconditioner();
  EngineChoice choice = trireme::choose_engine(spec);
  std::vector<std::string> unread;
  if (choice.resident()) {
    set_types(spec, resident_ksp_type(spec.first_method()), asked.resident_type());
    choice = engine() == Engine::resident
                 ? trireme::choose_engine(ksp_)
                 : EngineChoice::petsc(EngineReason::ksp_type_option, type());
    const std::string unused = options_without_meaning(ksp_);
    if (choice.resident() && unused.empty()) return;
    if (choice.resident()) choice = EngineChoice::petsc(EngineReason::unused_options, unused);
    if (trireme::choose_engine(type(), preconditioner()).resident())
      unread = unread_ksp_options(ksp_);
  }
  if (spec.engine == Engine::resident)
    fail(ExitCode::usage, "solver.engine: resident does not serve: {}{}", describe(choice),
         asked.works_in_petscs_loops() ? "; use engine: auto" : "");
  const auto named = solvers::method_named(spec.first_method());
  if (named && named->info.resident_only)
    fail(ExitCode::usage, "method {} works in the resident engine only ({}); use {}",
         spec.first_method(), describe(choice), named->info.petsc_name);

  set_types(spec, petsc_ksp_type(spec.first_method()), asked.petsc_type());
  if (!unread.empty() && unread_ksp_options(ksp_) == unread) {  // no engine has a use for them
    for (const std::string& option : unread) {
      petsc_check(PetscOptionsClearValue(nullptr, option.c_str()));
      notes_.push_back("PETSc option " + option + " was not used; is it misspelt?");
    }
    return choose_engine(spec);
  }
  if (engine() == Engine::resident) {  // the case names a KSP type of ours
    const EngineChoice own = trireme::choose_engine(ksp_);
    if (own.resident()) return;
    fail(ExitCode::usage, "KSP {}: {}; use PETSc's own solver", type(), describe(own));
  }
  if (!works_in_petscs_loops(pc_of(ksp_)))
    fail(ExitCode::usage, "preconditioner {} works in the resident engine only ({}); use another",
         type_of(pc_of(ksp_)), describe(choice));
  const bool has_method = !resident_ksp_type(spec.first_method()).empty();
  if (!spec.engine && has_method) notes_.push_back(describe(choice) + ": engine petsc");
}

// A method that needs a positive definite preconditioner gets Jacobi of the magnitudes of the
// diagonal. The resident engine does so by itself.
void KspSolver::take_magnitudes() {
  const std::string method = type();
  if (method != KSPMINRES && method != KSPSYMMLQ && method != KSPCR && method != KSPPIPECR) return;
  PetscBool chosen = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-pc_jacobi_abs", &chosen));
  if (!chosen && type_of(pc_of(ksp_)) == PCJACOBI)
    petsc_check(PCJacobiSetUseAbs(pc_of(ksp_), PETSC_TRUE));
}

// The resident engine looks at the sizes by itself.
void KspSolver::take_row_sizes() {
  const solvers::RowTest rows = row_test();
  ksp_set_row_test(ksp_, rows);
  const bool by_us = engine() == Engine::petsc && rows != solvers::RowTest::none;
  row_sizes_ = by_us ? row_sizes(*matrix_) : RowSizes();
}

void KspSolver::note_a_block_size_of_one() {
  PetscInt size = 1;
  petsc_check(MatGetBlockSize(amat_, &size));
  if (preconditioner().name() == PCPBJACOBI && size == 1)
    notes_.emplace_back(
        "pbjacobi with blocks of one row is jacobi; petsc: {mat_block_size: 3} gives "
        "the matrix blocks of three");
}

// The unpreconditioned residual, unless an option says otherwise or the method cannot test it.
void KspSolver::choose_norm() {
  PetscBool chosen = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-ksp_norm_type", &chosen));
  if (chosen) return;
  KSPNormType norm = KSP_NORM_NONE;
  if (!wrong_about_the_residual(type())) {
    petsc_check(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
    if (KSPGetNormType(ksp_, &norm) == kPetscSuccess) return;
  }
  petsc_check(KSPSetNormType(ksp_, KSP_NORM_DEFAULT));
  petsc_check(KSPGetNormType(ksp_, &norm), ExitCode::usage);
  notes_.push_back(fmt::format("{} tests the {} residual norm", method(),
                               norm == KSP_NORM_PRECONDITIONED ? "preconditioned"
                               : norm == KSP_NORM_NATURAL      ? "natural"
                                                               : "no"));
}

// PETSc's incomplete factorisations are serial: on many ranks each factors its own diagonal block.
void KspSolver::choose_parallel_factorisation() {
  const std::string asked = type_of(pc_of(ksp_));
  if ((asked != PCILU && asked != PCICC) || size_of(comm_of(amat_)) == 1) return;
  block_preconditioner_.emplace(asked);
  petsc_check(PCSetType(pc_of(ksp_), PCBJACOBI));
  petsc_check(PCSetFromOptions(pc_of(ksp_)), ExitCode::usage);
  if (type_of(pc_of(ksp_)) != PCBJACOBI) petsc_check(PCSetType(pc_of(ksp_), PCBJACOBI));
  notes_.push_back(fmt::format("{} on {} ranks is block Jacobi with {} of each rank's block", asked,
                               size_of(comm_of(amat_)), asked));
}

void KspSolver::give_entries(Mat assembled, const std::shared_ptr<const DistributedMatrix>& matrix,
                             const Modes& modes) {
  if (!assembled || lacks_diagonal_entries(assembled)) {
    pmat_ = std::make_unique<AssembledMat>(matrix, AijUse::preconditioner);
    assembled = pmat_->mat();
    set_near_nullspace(assembled, modes);
  }
  if (type_of(pc_of(ksp_)) == PCVPBJACOBI) set_row_groups(assembled, *matrix);
  petsc_check(KSPSetOperators(ksp_, amat_, assembled));
}

void KspSolver::set_block_factorisation() {
  PetscBool chosen = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-sub_pc_type", &chosen));
  if (!block_preconditioner_ || chosen) return;
  PetscInt count = 0;
  KSP* blocks = nullptr;
  petsc_check(PCBJacobiGetSubKSP(pc_of(ksp_), &count, nullptr, &blocks));
  for (PetscInt k = 0; k < count; ++k) {
    petsc_check(PCSetType(pc_of(blocks[k]), block_preconditioner_->petsc_type().c_str()),
                ExitCode::usage);
    petsc_check(PCSetFromOptions(pc_of(blocks[k])), ExitCode::usage);
  }
}

}  // namespace trireme
