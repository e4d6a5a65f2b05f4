// SPDX-License-Identifier: BSD-3-Clause
// KSP and PC from names, in the order that PETSc wants.
#include "petsc/ksp_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/block_size.hpp"
#include "petsc/ksp_types.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/row_order.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kLongestHistory = 1'000'000;

// The iteration limit while this lives.
class IterationLimit {
 public:
  IterationLimit(KSP ksp, std::int64_t less) : ksp_(ksp) {
    petsc_check(KSPGetTolerances(ksp, &rtol_, &atol_, &divtol_, &before_));
    set(std::max<PetscInt>(0, before_ - static_cast<PetscInt>(less)));
  }
  ~IterationLimit() { KSPSetTolerances(ksp_, rtol_, atol_, divtol_, before_); }
  IterationLimit(const IterationLimit&) = delete;
  IterationLimit& operator=(const IterationLimit&) = delete;

 private:
  void set(PetscInt most) { petsc_check(KSPSetTolerances(ksp_, rtol_, atol_, divtol_, most)); }

  KSP ksp_;
  PetscReal rtol_ = 0, atol_ = 0, divtol_ = 0;
  PetscInt before_ = 0;
};

PetscErrorCode call_monitor(KSP, PetscInt iteration, PetscReal norm, void* context) {
  const auto* monitor = static_cast<KspSolver::Monitor*>(context);
  if (*monitor) (*monitor)(iteration, norm);
  return kPetscSuccess;
}

PC pc_of(KSP ksp) {
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  return pc;
}

std::string type_of(PC pc) {
  PCType type = nullptr;
  petsc_check(PCGetType(pc, &type));
  return type ? type : "";
}

bool is_diagonal_jacobi(PC pc) {
  if (type_of(pc) != PCJACOBI) return false;
  PCJacobiType type = PC_JACOBI_DIAGONAL;
  petsc_check(PCJacobiGetType(pc, &type));
  return type == PC_JACOBI_DIAGONAL;
}

bool needs_entries(PC pc) {
  const std::string type = type_of(pc);
  const bool within_the_loop = type.starts_with("trireme_");
  return !(type == PCNONE || type == PCSHELL || within_the_loop || is_diagonal_jacobi(pc));
}

// Methods that offer the unpreconditioned norm and compute it wrongly (3.18 to 3.26): cr adds where
// its recurrence subtracts, bcgsl stops with another residual than it reports.
bool wrong_about_the_residual(const std::string& method) {
  return method == KSPCR || method == KSPBCGSL;
}

// PETSc would learn in the solve only, on the rank that has the row.
bool divides_by_the_diagonal(PC pc) {
  const std::string type = type_of(pc);
  return is_diagonal_jacobi(pc) || type == PCSOR || type == PCEISENSTAT;
}

// Of block Jacobi and additive Schwarz, so that the blocks' set-up does not communicate.
// Collective.
bool each_block_is_one_rank_s(PC pc) {
  const std::string type = type_of(pc);
  if (type != PCBJACOBI && type != PCASM) return false;
  PetscInt count = 0;
  KSP* blocks = nullptr;
  const auto ask = type == PCBJACOBI ? PCBJacobiGetSubKSP : PCASMGetSubKSP;
  petsc_check(ask(pc, &count, nullptr, &blocks));
  double ranks = 1;
  for (PetscInt k = 0; k < count; ++k) ranks = std::max<double>(ranks, size_of(comm_of(blocks[k])));
  return max_over_ranks(comm_of(pc), ranks) == 1;
}

void require_nonzero_diagonal(const DistributedMatrix& matrix, const std::string& preconditioner) {
  Array<double> d(matrix.local_rows());
  matrix.diagonal(d);
  const auto zero = std::find(d.begin(), d.end(), 0.0);
  std::int64_t row = zero == d.end() ? std::numeric_limits<std::int64_t>::max()
                                     : matrix.first_row() + (zero - d.begin());
  MPI_Allreduce(MPI_IN_PLACE, &row, 1, MPI_INT64_T, MPI_MIN, matrix.comm);
  if (row != std::numeric_limits<std::int64_t>::max())
    fail(ExitCode::input,
         "row {} (from 0) has a zero on the diagonal, by which {} would divide; use another "
         "preconditioner, such as none or ilu",
         row, preconditioner);
}

// PETSc's own loops ask nothing but their convergence test: while this lives, a signal on any rank
// is a reason to end. To agree takes a reduction, so after the first few iterations not all do.
class EndedBySignal {
 public:
  EndedBySignal(KSP ksp, const KspSolver::Checkpoints& checkpoints)
      : ksp_(ksp), test_(exchange_convergence_test(ksp, {test, this})), checkpoints_(checkpoints) {}
  ~EndedBySignal() { exchange_convergence_test(ksp_, test_); }
  EndedBySignal(const EndedBySignal&) = delete;
  EndedBySignal& operator=(const EndedBySignal&) = delete;

  bool stopped() const { return stopped_; }

 private:
  static constexpr std::int64_t kIterationsBetween = 10;

  static PetscErrorCode test(KSP ksp, PetscInt iteration, PetscReal norm,
                             KSPConvergedReason* reason, void* context) {
    auto& self = *static_cast<EndedBySignal*>(context);
    const PetscErrorCode error = self.test_.test(ksp, iteration, norm, reason, self.test_.context);
    if (error != kPetscSuccess || *reason != KSP_CONVERGED_ITERATING) return error;
    if (++self.tests_ > kIterationsBetween && self.tests_ % kIterationsBetween != 0) return error;
    const MPI_Comm comm = comm_of(ksp);
    const bool due = self.checkpoints_.due && self.checkpoints_.due();
    int wishes[] = {InterruptGuard::asked() ? 1 : 0, due ? 1 : 0};  // of any rank
    MPI_Allreduce(MPI_IN_PLACE, wishes, 2, MPI_INT, MPI_MAX, comm);
    self.stopped_ = wishes[0] != 0;
    if (self.stopped_) *reason = kKspStopped;
    if (self.stopped_ || wishes[1] == 0) return error;
    return petsc_guard(comm, [&] {
      Vec x = nullptr;  // a method that cannot show it goes on without checkpoints
      if (KSPBuildSolution(ksp, nullptr, &x) == kPetscSuccess) self.checkpoints_.keep(iteration, x);
    });
  }

  KSP ksp_;
  ConvergenceTest test_;
  const KspSolver::Checkpoints& checkpoints_;
  std::int64_t tests_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::string ksp_type(const std::string& method) { return method == "bicgstab" ? KSPBCGS : method; }

KspSolver::KspSolver(const SolverSpec& spec, Mat amat, Mat assembled,
                     const std::shared_ptr<const DistributedMatrix>& matrix)
    : amat_(amat) {
  const Stopwatch watch;
  petsc_check(KSPCreate(comm_of(amat), ksp_.put()));
  petsc_check(KSPSetOperators(ksp_, amat, amat));
  register_resident_types();
  choose_engine(spec);
  petsc_check(KSPSetErrorIfNotConverged(ksp_, PETSC_FALSE));
  petsc_check(KSPMonitorSet(ksp_, call_monitor, &monitor_, nullptr));
  choose_norm();
  choose_parallel_factorisation(type_of(pc_of(ksp_)));

  if (divides_by_the_diagonal(pc_of(ksp_))) require_nonzero_diagonal(*matrix, type_of(pc_of(ksp_)));
  note_a_block_size_of_one();
  const bool by_groups = type_of(pc_of(ksp_)).ends_with(PCVPBJACOBI);
  if (by_groups) set_row_groups(amat, *matrix);
  if (needs_entries(pc_of(ksp_))) give_entries(assembled, matrix);
  petsc_check(KSPSetUp(ksp_), ExitCode::usage);
  set_block_factorisation();
  const auto set_up_blocks = [&] { petsc_check(KSPSetUpOnBlocks(ksp_), ExitCode::input); };
  if (each_block_is_one_rank_s(pc_of(ksp_)))  // one may fail where the others do not
    collectively(comm_of(amat), set_up_blocks);
  else
    set_up_blocks();

  PetscInt most = 0;  // by the options too
  petsc_check(KSPGetTolerances(ksp_, nullptr, nullptr, nullptr, &most));
  unscaled_atol_ = atol();
  history_.resize(std::clamp(most + std::int64_t{1}, std::int64_t{1}, kLongestHistory));
  petsc_check(KSPSetResidualHistory(ksp_, history_.data(), static_cast<PetscInt>(history_.size()),
                                    PETSC_TRUE));
  setup_seconds_ = watch.seconds();
}

void KspSolver::set_types(const SolverSpec& spec, const std::string& type,
                          const std::string& pc_type) {
  petsc_check(KSPSetType(ksp_, type.c_str()), ExitCode::usage);
  petsc_check(PCSetType(pc_of(ksp_), pc_type.c_str()), ExitCode::usage);
  const auto max_iterations = static_cast<PetscInt>(
      std::min<std::int64_t>(spec.max_iterations, std::numeric_limits<PetscInt>::max() - 1));
  petsc_check(KSPSetTolerances(ksp_, spec.rtol, spec.atol, PETSC_DEFAULT, max_iterations));
  petsc_check(KSPSetFromOptions(ksp_), ExitCode::usage);
}

// Trireme's own loop where it is asked for or, by auto, where it serves: as what it lacks of the
// options shows when it has read them, it reads them first.
void KspSolver::choose_engine(const SolverSpec& spec) {
  const std::string resident = resident_ksp_type(spec.method);
  std::string why_not = spec.engine == Engine::petsc
                            ? "solver.engine is petsc"
                            : why_not_resident(spec.method, spec.preconditioner);
  std::vector<std::string> unread;
  if (why_not.empty()) {
    set_types(spec, resident, resident_pc_type(spec.preconditioner));
    why_not = engine() == Engine::resident ? why_not_resident(ksp_) : "-ksp_type " + type();
    if (why_not.empty()) return;
    if (why_not_resident(type(), type_of(pc_of(ksp_))).empty()) unread = unread_ksp_options(ksp_);
  }
  if (spec.engine == Engine::resident)
    fail(ExitCode::usage, "solver.engine: resident does not serve: {}{}", why_not,
         spec.preconditioner.starts_with("trireme_") ? "" : "; use engine: auto");
  set_types(spec, ksp_type(spec.method), spec.preconditioner);
  if (!unread.empty() && unread_ksp_options(ksp_) == unread) {  // no engine has a use for them
    for (const std::string& option : unread) {
      petsc_check(PetscOptionsClearValue(nullptr, option.c_str()));
      notes_.push_back("PETSc option " + option + " was not used; is it misspelt?");
    }
    return choose_engine(spec);
  }
  if (engine() == Engine::resident) {  // by its own name
    const std::string why = why_not_resident(ksp_);
    if (!why.empty()) fail(ExitCode::usage, "KSP {}: {}; use PETSc's own solver", type(), why);
    return;
  }
  const std::string pc_type = type_of(pc_of(ksp_));
  if (pc_type.starts_with("trireme_"))
    fail(ExitCode::usage, "preconditioner {} works in the resident engine only ({}); use another",
         pc_type, why_not);
  if (!spec.engine && !resident.empty()) notes_.push_back(why_not + ": engine petsc");
}

void KspSolver::note_a_block_size_of_one() {
  PetscInt size = 1;
  petsc_check(MatGetBlockSize(amat_, &size));
  if (preconditioner() == PCPBJACOBI && size == 1)
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
void KspSolver::choose_parallel_factorisation(const std::string& asked) {
  if ((asked != PCILU && asked != PCICC) || size_of(comm_of(amat_)) == 1) return;
  block_type_ = asked;
  petsc_check(PCSetType(pc_of(ksp_), PCBJACOBI));
  petsc_check(PCSetFromOptions(pc_of(ksp_)), ExitCode::usage);
  if (type_of(pc_of(ksp_)) != PCBJACOBI) petsc_check(PCSetType(pc_of(ksp_), PCBJACOBI));
  notes_.push_back(fmt::format("{} on {} ranks is block Jacobi with {} of each rank's block", asked,
                               size_of(comm_of(amat_)), asked));
}

void KspSolver::give_entries(Mat assembled,
                             const std::shared_ptr<const DistributedMatrix>& matrix) {
  if (!assembled) {
    pmat_ = std::make_unique<AssembledMat>(matrix, AijUse::preconditioner);
    assembled = pmat_->mat();
  }
  if (type_of(pc_of(ksp_)) == PCVPBJACOBI) set_row_groups(assembled, *matrix);
  petsc_check(KSPSetOperators(ksp_, amat_, assembled));
}

void KspSolver::set_block_factorisation() {
  PetscBool chosen = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-sub_pc_type", &chosen));
  if (block_type_.empty() || chosen) return;
  PetscInt count = 0;
  KSP* blocks = nullptr;
  petsc_check(PCBJacobiGetSubKSP(pc_of(ksp_), &count, nullptr, &blocks));
  for (PetscInt k = 0; k < count; ++k) {
    petsc_check(PCSetType(pc_of(blocks[k]), block_type_.c_str()), ExitCode::usage);
    petsc_check(PCSetFromOptions(pc_of(blocks[k])), ExitCode::usage);
  }
}

// CG's recurrences hold for a symmetric preconditioner only.
std::string KspSolver::unsymmetric_factorisation() const {
  if (method() != "cg") return {};
  PC pc = pc_of(ksp_);
  if (type_of(pc) == PCBJACOBI) {
    KSP* blocks = nullptr;
    PetscInt count = 0;
    petsc_check(PCBJacobiGetSubKSP(pc, &count, nullptr, &blocks));
    if (count > 0) pc = pc_of(blocks[0]);
  }
  return type_of(pc) == PCILU ? type_of(pc) : "";
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

void KspSolver::prepare() {
  const Stopwatch watch;
  ksp_prepare(ksp_);
  setup_seconds_ += watch.seconds();
}

void KspSolver::scale_tolerance(int exponent) {
  if (exponent == exponent_of_atol_) return;
  exponent_of_atol_ = exponent;
  constexpr double kMax = 1e300;
  const double atol = std::min(std::ldexp(unscaled_atol_, -exponent), kMax);
  petsc_check(KSPSetTolerances(ksp_, PETSC_DEFAULT, atol, PETSC_DEFAULT, PETSC_DEFAULT));
}

KspResult KspSolver::solve(Vec b, Vec x, bool nonzero_guess) {
  const MPI_Comm comm = comm_of(amat_);
  petsc_check(KSPSetInitialGuessNonzero(ksp_, nonzero_guess ? PETSC_TRUE : PETSC_FALSE));
  MPI_Barrier(comm);
  const bool resident = engine() == Engine::resident;
  std::optional<EndedBySignal> signal;
  std::optional<IterationLimit> limit;
  if (resident)
    ksp_set_stop(ksp_, [this] {
      return InterruptGuard::asked() || (checkpoints_.due && checkpoints_.due());
    });
  else if (type() != KSPTSIRM)  // which reads the context of its test itself
    signal.emplace(ksp_, checkpoints_);
  const std::int64_t before = std::exchange(iterations_before_, 0);
  if (before > 0) limit.emplace(ksp_, before);
  const Stopwatch watch;
  petsc_check(KSPSolve(ksp_, b, x));
  KspResult result;
  result.seconds = max_over_ranks(comm, watch.seconds());
  result.verdict = verdict_of(ksp_);
  if (resident)
    result.facts = *ksp_facts(ksp_);
  else
    result.facts.stopped = signal && signal->stopped();
  const std::string unsymmetric = unsymmetric_factorisation();
  if (result.verdict.exit_code == ExitCode::breakdown && !unsymmetric.empty())
    result.verdict.text = fmt::format(
        "breakdown: cg needs a symmetric positive definite preconditioner, and the factors of {} "
        "are not symmetric; use preconditioner jacobi or icc, or method bicgstab ({})",
        unsymmetric, KSPConvergedReasons[static_cast<int>(result.verdict.reason)]);
  if (result.facts.stopped)
    result.verdict.text = "not converged: stopped by a signal, with the solution so far";
  PetscInt iterations = 0;
  petsc_check(KSPGetIterationNumber(ksp_, &iterations));
  result.iterations = iterations_ = before + iterations;
  result.can_go_on = result.verdict.exit_code == ExitCode::not_converged &&
                     (result.facts.stopped || result.verdict.reason == KSP_DIVERGED_ITS);
  result.residuals = residuals();
  return result;
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
  const auto resident = resident_method(name);
  const auto method = resident ? resident : solvers::method_named(name);
  return method ? std::string(solvers::info_of(*method).name) : name;
}

Engine KspSolver::engine() const {
  return resident_method(type()) ? Engine::resident : Engine::petsc;
}

std::string KspSolver::preconditioner() const {
  std::string type = type_of(pc_of(ksp_));
  for (const char* name : {PCPBJACOBI, PCVPBJACOBI})
    if (type == resident_pc_type(name)) type = name;
  return block_type_.empty() ? type : fmt::format("{}/{}", type, block_type_);
}

double KspSolver::rtol() const {
  PetscReal value = 0;
  petsc_check(KSPGetTolerances(ksp_, &value, nullptr, nullptr, nullptr));
  return value;
}

double KspSolver::atol() const {
  PetscReal value = 0;
  petsc_check(KSPGetTolerances(ksp_, nullptr, &value, nullptr, nullptr));
  return value;
}

double KspSolver::reference(double unit, double first_norm) const {
  const KspRequests asked = requests_of(ksp_);
  if (asked.relative_to_initial_residual) return first_norm;
  return asked.relative_to_smaller ? std::min(unit, first_norm) : unit;
}

}  // namespace trireme
