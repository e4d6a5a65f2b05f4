// SPDX-License-Identifier: BSD-3-Clause
// KSP and PC types around the resident engine. The only file that reads PETSc's private headers.
#include "krylov/ksp_register.hpp"

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "krylov/cuda_operator_system.hpp"
#include "krylov/mat_system.hpp"
#include "krylov/resident/cuda_solve.hpp"
#include "krylov/resident/solve.hpp"
#include "operators/mat_shell.hpp"
#include "operators/petsc_shim.hpp"

namespace trireme {
namespace {

using resident::Iterate;
using resident::Method;
using resident::NormKind;
using resident::PreconditionerSpec;
using resident::Reason;
using resident::Variant;

#if PETSC_VERSION_LT(3, 26, 0)
using OptionItems = PetscOptionItems*;
#else
using OptionItems = PetscOptionItems;
#endif

const char* const kVariantNames[] = {"auto", "classic", "merged"};

// --- PC types: parameters only; the loop applies them
// ---------------------------------------------

struct ParameterPc {
  PetscInt block_size = 4;
  PetscInt degree = 4;
};

ParameterPc& parameters(PC pc) { return *static_cast<ParameterPc*>(pc->data); }

bool is_type(PC pc, const char* type) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), type, &same));
  return same == PETSC_TRUE;
}

PetscErrorCode pc_set_from_options(PC pc, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme preconditioner options");
  if (is_type(pc, kTriremeBlockJacobi))
    PetscCall(PetscOptionsRangeInt("-pc_trireme_block_size", "rows of a dense diagonal block", "",
                                   parameters(pc).block_size, &parameters(pc).block_size, nullptr,
                                   2, 32));
  else
    PetscCall(PetscOptionsRangeInt("-pc_trireme_degree", "products with A an application", "",
                                   parameters(pc).degree, &parameters(pc).degree, nullptr, 1, 100));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode pc_apply(PC pc, Vec, Vec) {
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
          "PC %s works inside -ksp_type trireme_cg or trireme_bicgstab only",
          reinterpret_cast<PetscObject>(pc)->type_name);
}

PetscErrorCode pc_view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  if (is_type(pc, kTriremeBlockJacobi))
    PetscCall(PetscViewerASCIIPrintf(viewer, "  dense blocks of %d rows\n",
                                     static_cast<int>(parameters(pc).block_size)));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Chebyshev polynomial of Jacobi, %d products\n",
                                     static_cast<int>(parameters(pc).degree)));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode pc_destroy(PC pc) {
  delete static_cast<ParameterPc*>(pc->data);
  pc->data = nullptr;
  return kPetscSuccess;
}

PetscErrorCode pc_create(PC pc) {
  pc->data = new ParameterPc;
  pc->ops->setfromoptions = pc_set_from_options;
  pc->ops->apply = pc_apply;
  pc->ops->view = pc_view;
  pc->ops->destroy = pc_destroy;
  return kPetscSuccess;
}

// --- KSP types --------------------------------------------------------------------------------

struct Engine {
  Method method = Method::cg;
  Variant variant = Variant::automatic;
  bool options_read = false;
  std::function<bool()> stop;
  KspFacts facts;

  // One of the two, where the operator is.
  std::unique_ptr<MatSystem> host_system;
  std::unique_ptr<resident::HostSolver> host_solver;
  std::unique_ptr<CudaOperatorSystem> cuda_system;
  std::unique_ptr<resident::CudaSolver> cuda_solver;
  // What it was prepared for.
  PetscObjectId mat_id = 0;
  PetscObjectState mat_state = -1;
  PetscObjectId pc_id = 0;
  std::string pc_type;
  PetscInt pc_parameter = 0;

  const Iterate* iterate = nullptr;  // while a monitor runs
  VecHandle shown;                   // what KSPBuildSolution handed out

  bool prepared() const { return host_solver || cuda_solver; }
  void forget() {
    host_solver.reset();
    cuda_solver.reset();
    host_system.reset();
    cuda_system.reset();
  }
};

Engine& engine_of(KSP ksp) { return *static_cast<Engine*>(ksp->data); }
MPI_Comm comm_of(KSP ksp) { return PetscObjectComm(reinterpret_cast<PetscObject>(ksp)); }

bool is_resident(KSP ksp) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(ksp), &same, kTriremeCg,
                                        kTriremeBicgstab, ""));
  return same == PETSC_TRUE;
}

KSPConvergedReason to_petsc(Reason reason) {
#if PETSC_VERSION_LT(3, 26, 0)
  if (reason == Reason::interrupted) return KSP_DIVERGED_ITS;
#endif
  return static_cast<KSPConvergedReason>(static_cast<int>(reason));
}

// Members that some releases of PETSc lack.
template <class Ksp>
PetscInt least_iterations(Ksp ksp) {
  if constexpr (requires { ksp->min_it; }) return ksp->min_it;
  return 0;
}
template <class Ksp>
bool scales_diagonally(Ksp ksp) {
  if constexpr (requires { ksp->dscale; }) return ksp->dscale;
  return false;
}

// KSPSolve reads these itself, after the loop.
bool read_after_the_solve(std::string_view option) {
  for (const std::string_view start :
       {"converged_reason", "converged_rate", "final_residual", "view", "monitor_pause"})
    if (option.starts_with(start)) return true;
  return false;
}

void refuse_unread_options(KSP ksp) {
  if (!engine_of(ksp).options_read) return;
  if (const std::string unread = ksp_options_without_meaning(ksp); !unread.empty())
    fail(ExitCode::usage, "KSP {} has no use for {}; remove it, or use PETSc's own solver",
         reinterpret_cast<PetscObject>(ksp)->type_name, unread);
}

void refuse_what_is_not_supported(KSP ksp) {
  const char* type = reinterpret_cast<PetscObject>(ksp)->type_name;
  const auto refuse = [&](bool asked, const char* what) {
    if (asked)
      fail(ExitCode::usage, "KSP {} does not support {}; use PETSc's own solver", type, what);
  };
  refuse(ksp->calc_sings || ksp->calc_ritz, "singular values or Ritz pairs");
  refuse(ksp->lagnorm, "a lagged norm (-ksp_lag_norm)");
  refuse(ksp->transpose_solve, "transposed solves");
  refuse(ksp->err_hist_max > 0 && ksp->err_hist, "an error history");
  refuse(scales_diagonally(ksp), "diagonal scaling (-ksp_diagonal_scale); Jacobi does the same");
  Mat amat = nullptr;
  MatNullSpace null_space = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  petsc_check(MatGetNullSpace(amat, &null_space));
  refuse(null_space != nullptr, "a null space (MatSetNullSpace)");
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  const char* pc_type = reinterpret_cast<PetscObject>(pc)->type_name;
  const std::string why = why_not_resident(engine_of(ksp).method == Method::cg ? "cg" : "bicgstab",
                                           pc_type ? pc_type : "none");
  if (!why.empty()) fail(ExitCode::usage, "KSP {}: {}", type, why);
}

// Prepares the solver, unless it is for this matrix and preconditioner already.
void prepare(KSP ksp) {
  Engine& engine = engine_of(ksp);
  Mat amat = nullptr, pmat = nullptr;
  PC pc = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, &pmat));
  petsc_check(KSPGetPC(ksp, &pc));
  PetscObjectId mat_id = 0, pc_id = 0;
  PetscObjectState mat_state = 0;
  petsc_check(PetscObjectGetId(reinterpret_cast<PetscObject>(amat), &mat_id));
  petsc_check(PetscObjectGetId(reinterpret_cast<PetscObject>(pc), &pc_id));
  petsc_check(PetscObjectStateGet(reinterpret_cast<PetscObject>(amat), &mat_state));
  const std::string pc_type = reinterpret_cast<PetscObject>(pc)->type_name;
  const bool blocks = pc_type == kTriremeBlockJacobi, chebyshev = pc_type == kTriremeChebyshev;
  const PetscInt parameter = blocks      ? parameters(pc).block_size
                             : chebyshev ? parameters(pc).degree
                                         : 0;
  if (engine.prepared() && engine.mat_id == mat_id && engine.mat_state == mat_state &&
      engine.pc_id == pc_id && engine.pc_type == pc_type && engine.pc_parameter == parameter)
    return;

  PreconditionerSpec spec;
  Array<double> data;
  if (blocks) {
    spec.kind = PreconditionerSpec::Kind::blocks;
    spec.block_size = static_cast<std::int32_t>(parameter);
    spec.blocks = data = diagonal_blocks_of(pmat, spec.block_size);
  } else if (chebyshev) {
    spec.kind = PreconditionerSpec::Kind::chebyshev;
    spec.degree = static_cast<std::int32_t>(parameter);
    spec.diagonal = data = diagonal_of(pmat);
  } else if (pc_type != PCNONE) {
    spec.kind = PreconditionerSpec::Kind::jacobi;
    spec.inverse_diagonal = data = inverse_diagonal_of(pc, amat);
  }
  engine.forget();
  if (auto cuda = std::dynamic_pointer_cast<CudaOperator>(shell_operator(amat))) {
    engine.cuda_system = std::make_unique<CudaOperatorSystem>(std::move(cuda));
    engine.cuda_solver = std::make_unique<resident::CudaSolver>(*engine.cuda_system, engine.method,
                                                                engine.variant, spec);
  } else {
    engine.host_system = std::make_unique<MatSystem>(amat);
    engine.host_solver = std::make_unique<resident::HostSolver>(*engine.host_system, engine.method,
                                                                engine.variant, spec);
  }
  engine.mat_id = mat_id;
  engine.mat_state = mat_state;
  engine.pc_id = pc_id;
  engine.pc_type = pc_type;
  engine.pc_parameter = parameter;
}

resident::Tolerances tolerances_of(KSP ksp) {
  resident::Tolerances rule;
  rule.rtol = ksp->rtol;
  rule.atol = ksp->abstol;
  rule.divtol = ksp->divtol;
  rule.max_iterations = ksp->max_it;
  rule.min_iterations = least_iterations(ksp);
  rule.untested_iterations = ksp->chknorm;
  switch (ksp->normtype) {
    case KSP_NORM_PRECONDITIONED:
      rule.norm = NormKind::preconditioned;
      break;
    case KSP_NORM_NATURAL:
      rule.norm = NormKind::natural;
      break;
    case KSP_NORM_NONE:
      rule.norm = NormKind::none;
      break;
    default:
      rule.norm = NormKind::unpreconditioned;
  }
  if (ksp->converged == KSPConvergedDefault) {
    const auto& context = *static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
    rule.relative_to_initial_residual = context.initialrtol;
    rule.relative_to_smaller = context.mininitialrtol;
    rule.limit_is_success = context.convmaxits;
  } else {
    rule.judged_by_caller = rule.norm != NormKind::none;
  }
  return rule;
}

// History, monitors and a convergence test of the user's own.
Reason report_iteration(KSP ksp, const resident::State& state, const Iterate& iterate) {
  Engine& engine = engine_of(ksp);
  ksp->its = static_cast<PetscInt>(state.iterations);
  ksp->rnorm = state.norm;
  ksp->rnorm0 = state.reference;
  ksp->ttol = state.target;
  engine.iterate = &iterate;
  petsc_check(KSPLogResidualHistory(ksp, state.norm));
  petsc_check(KSPMonitor(ksp, ksp->its, state.norm));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  if (state.rule.judged_by_caller)
    petsc_check((*ksp->converged)(ksp, ksp->its, state.norm, &reason, ksp->cnvP));
  engine.iterate = nullptr;
  return static_cast<Reason>(static_cast<int>(reason));
}

const char* executor_name(const Engine& engine) {
  if (!engine.cuda_solver) return "host";
  switch (engine.cuda_solver->mode()) {
    case resident::CudaMode::persistent:
      return "cuda persistent kernel";
    case resident::CudaMode::graph:
      return engine.cuda_system->capturable() ? "cuda graph" : "cuda, launched by the host";
    default:
      return "cuda, launched by the host";
  }
}

// The vectors are where PETSc keeps them: with a PETSc that has CUDA, on the device.
resident::Outcome run(KSP ksp, const resident::Tolerances& rule,
                      const resident::Observer& observer) {
  Engine& engine = engine_of(ksp);
  const bool zero_guess = ksp->guess_zero == PETSC_TRUE;
  PetscInt size = 0;
  petsc_check(VecGetLocalSize(ksp->vec_sol, &size));
  const auto rows = static_cast<std::size_t>(size);
  const PetscScalar* b = nullptr;
  PetscScalar* x = nullptr;
  resident::Outcome outcome;
  if (engine.host_solver) {
    petsc_check(VecGetArrayRead(ksp->vec_rhs, &b));
    petsc_check(VecGetArray(ksp->vec_sol, &x));
    outcome = engine.host_solver->solve({{b, rows}, {x, rows}, zero_guess}, rule, observer);
    petsc_check(VecRestoreArrayRead(ksp->vec_rhs, &b));
    petsc_check(VecRestoreArray(ksp->vec_sol, &x));
    return outcome;
  }
  PetscMemType b_at = PETSC_MEMTYPE_HOST, x_at = PETSC_MEMTYPE_HOST;
  petsc_check(VecGetArrayReadAndMemType(ksp->vec_rhs, &b, &b_at));
  petsc_check(VecGetArrayAndMemType(ksp->vec_sol, &x, &x_at));
  if (PetscMemTypeDevice(b_at) && PetscMemTypeDevice(x_at))
    outcome =
        engine.cuda_solver->solve(DeviceSpan<const double>(b, rows), DeviceSpan<double>(x, rows),
                                  zero_guess, nullptr, rule, observer);
  else if (PetscMemTypeHost(b_at) && PetscMemTypeHost(x_at))
    outcome = engine.cuda_solver->solve({{b, rows}, {x, rows}, zero_guess}, rule, observer);
  else
    fail(ExitCode::usage, "KSP {}: b and x must both be on the host or both on the device",
         reinterpret_cast<PetscObject>(ksp)->type_name);
  petsc_check(VecRestoreArrayReadAndMemType(ksp->vec_rhs, &b));
  petsc_check(VecRestoreArrayAndMemType(ksp->vec_sol, &x));
  return outcome;
}

void solve(KSP ksp) {
  refuse_unread_options(ksp);
  refuse_what_is_not_supported(ksp);
  prepare(ksp);
  Engine& engine = engine_of(ksp);
  resident::Observer observer;
  observer.iteration = [ksp](const resident::State& state, const Iterate& iterate) {
    return report_iteration(ksp, state, iterate);
  };
  observer.stop = engine.stop;
  const resident::Outcome outcome = run(ksp, tolerances_of(ksp), observer);
  ksp->its = static_cast<PetscInt>(outcome.iterations);
  ksp->rnorm = outcome.norm;
  ksp->reason = to_petsc(outcome.reason);
  engine.facts = {executor_name(engine), kVariantNames[static_cast<int>(outcome.variant)],
                  outcome.replacements, outcome.reason == Reason::interrupted};
  if (ksp->reason < 0 && ksp->errorifnotconverged)
    fail(ExitCode::not_converged, "KSPSolve has not converged, reason {}",
         KSPConvergedReasons[ksp->reason]);
}

PetscErrorCode ksp_solve(KSP ksp) {
  return petsc_guard(comm_of(ksp), [&] { solve(ksp); });
}

PetscErrorCode ksp_setup(KSP) { return kPetscSuccess; }  // PETSc calls it unconditionally

PetscErrorCode ksp_set_from_options(KSP ksp, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  Engine& engine = engine_of(ksp);
  engine.options_read = true;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme's resident solver options");
  if (engine.method == Method::cg) {
    PetscInt variant = static_cast<PetscInt>(engine.variant);
    PetscCall(PetscOptionsEList("-ksp_trireme_variant", "merged: one point of global sums", "",
                                kVariantNames, 3, kVariantNames[variant], &variant, nullptr));
    if (static_cast<Variant>(variant) != engine.variant) engine.forget();
    engine.variant = static_cast<Variant>(variant);
  }
  PetscOptionsHeadEnd();
  PetscFunctionReturn(kPetscSuccess);
}

// Within a monitor x may lag behind the norm by one step: what is shown includes it.
PetscErrorCode ksp_build_solution(KSP ksp, Vec into, Vec* shown) {
  return petsc_guard(comm_of(ksp), [&] {
    Engine& engine = engine_of(ksp);
    if (engine.cuda_solver && engine.iterate)
      fail(ExitCode::usage,
           "KSP {}: a monitor asks for the solution, which is on the device while the loop runs; "
           "use "
           "PETSc's own solver with that monitor",
           reinterpret_cast<PetscObject>(ksp)->type_name);
    if (!into && (!engine.iterate || engine.iterate->step == 0)) {
      if (shown) *shown = ksp->vec_sol;
      return;
    }
    if (!into) {
      if (!engine.shown) petsc_check(VecDuplicate(ksp->vec_sol, engine.shown.put()));
      into = engine.shown;
    }
    petsc_check(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(ksp->vec_sol)));
    petsc_check(VecCopy(ksp->vec_sol, into));
    if (engine.iterate && engine.iterate->step != 0) {
      PetscScalar* x = nullptr;
      petsc_check(VecGetArray(into, &x));
      for (std::size_t i = 0; i < engine.iterate->direction.size(); ++i)
        x[i] += engine.iterate->step * engine.iterate->direction[i];
      petsc_check(VecRestoreArray(into, &x));
    }
    if (shown) *shown = into;
  });
}

PetscErrorCode ksp_view(KSP ksp, PetscViewer viewer) {
  PetscFunctionBegin;
  const Engine& engine = engine_of(ksp);
  PetscBool ascii = PETSC_FALSE;
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(kPetscSuccess);
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  resident loop%s, convergence checked by b - A x\n",
      engine.method == Method::cg
          ? fmt::format(", variant {}", kVariantNames[static_cast<int>(engine.variant)]).c_str()
          : ""));
  if (!engine.facts.executor.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: %s, %s, residual replaced %d times\n",
                                     engine.facts.executor.c_str(), engine.facts.variant.c_str(),
                                     engine.facts.replacements));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode ksp_reset(KSP ksp) {
  Engine& engine = engine_of(ksp);
  engine.forget();
  engine.shown.reset();
  return kPetscSuccess;
}

PetscErrorCode ksp_destroy(KSP ksp) {
  delete static_cast<Engine*>(ksp->data);
  ksp->data = nullptr;
  return kPetscSuccess;
}

PetscErrorCode ksp_create(KSP ksp, Method method) {
  PetscFunctionBegin;
  auto engine = std::make_unique<Engine>();
  engine->method = method;
  if (method == Method::cg) {
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  } else {
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  }
  ksp->data = engine.release();
  ksp->ops->setup = ksp_setup;
  ksp->ops->solve = ksp_solve;
  ksp->ops->setfromoptions = ksp_set_from_options;
  ksp->ops->buildsolution = ksp_build_solution;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  ksp->ops->view = ksp_view;
  ksp->ops->reset = ksp_reset;
  ksp->ops->destroy = ksp_destroy;
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode create_cg(KSP ksp) { return ksp_create(ksp, Method::cg); }
PetscErrorCode create_bicgstab(KSP ksp) { return ksp_create(ksp, Method::bicgstab); }

}  // namespace

std::string ksp_options_without_meaning(KSP ksp) {
  const char* prefix = nullptr;
  petsc_check(KSPGetOptionsPrefix(ksp, &prefix));
  const std::string start = std::string(prefix ? prefix : "") + "ksp_";
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  PetscOptions options = reinterpret_cast<PetscObject>(ksp)->options;
  petsc_check(PetscOptionsLeftGet(options, &count, &names, &values));
  std::string unread;
  for (PetscInt k = 0; k < count; ++k) {
    const std::string_view name = names[k];
    if (name.starts_with(start) && !read_after_the_solve(name.substr(start.size())))
      unread += fmt::format("{}-{}", unread.empty() ? "" : ", ", name);
  }
  petsc_check(PetscOptionsLeftRestore(options, &count, &names, &values));
  return unread;
}

void register_resident_types() {
  petsc_check(KSPRegister(kTriremeCg, create_cg));
  petsc_check(KSPRegister(kTriremeBicgstab, create_bicgstab));
  petsc_check(PCRegister(kTriremeBlockJacobi, pc_create));
  petsc_check(PCRegister(kTriremeChebyshev, pc_create));
}

std::string resident_ksp_type(std::string_view method) {
  if (method == "cg" || method == kTriremeCg) return kTriremeCg;
  if (method == "bicgstab" || method == "bcgs" || method == kTriremeBicgstab)
    return kTriremeBicgstab;
  return {};
}

std::string why_not_resident(std::string_view method, std::string_view preconditioner) {
  const std::string type = resident_ksp_type(method);
  if (type.empty())
    return fmt::format("the resident engine has cg and bicgstab, not {}: engine petsc", method);
  if (preconditioner == kTriremeChebyshev && type != kTriremeCg)
    return fmt::format("{} is for symmetric matrices: use it with cg", kTriremeChebyshev);
  for (const std::string_view known :
       {std::string_view("none"), std::string_view("jacobi"), std::string_view(kTriremeBlockJacobi),
        std::string_view(kTriremeChebyshev)})
    if (preconditioner == known) return {};
  return fmt::format(
      "the resident engine has the preconditioners none, jacobi, {} and {}, not {}: "
      "engine petsc",
      kTriremeBlockJacobi, kTriremeChebyshev, preconditioner);
}

void ksp_set_stop(KSP ksp, std::function<bool()> stop) {
  if (is_resident(ksp)) engine_of(ksp).stop = std::move(stop);
}

std::optional<KspFacts> ksp_facts(KSP ksp) {
  if (!is_resident(ksp)) return std::nullopt;
  return engine_of(ksp).facts;
}

}  // namespace trireme
