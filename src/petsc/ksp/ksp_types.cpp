// SPDX-License-Identifier: BSD-3-Clause
// The functions of the KSP types, and the registration of the types.
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/factors/cudss/package.hpp"

#include <memory>
#include <utility>

#include "base/error.hpp"
#include "distributed/cuda_operator.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_block.hpp"
#include "petsc/ksp/ksp_engine.hpp"
#include "petsc/ksp/ksp_rules.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/mat/row_order.hpp"
#include "petsc/pc/given_pc.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

using solvers::Iterate;
using solvers::Method;
using solvers::Reason;
using solvers::Variant;

constexpr std::string_view kPrefix = "trireme_";

// Whether the variant is the user's choice.
bool has_variants(const KspEngine& engine) {
  return engine.variant() != Variant::pipelined &&
         solvers::has_variant(engine.method(), Variant::single_reduction);
}

std::string type_name_of(KSP ksp) {
  KSPType type = nullptr;
  petsc_check(KSPGetType(ksp, &type));
  return type ? type : "";
}

bool is_resident(KSP ksp) { return resident_method(type_name_of(ksp)).has_value(); }

std::string why_on_host(KSP ksp, const EngineChoice& why) {
  if (why.reason == EngineReason::null_space)
    return "the null space of the matrix is removed there";
  if (why.reason == EngineReason::monitor_of_the_solution)
    return why.subject + " asks for the solution in each iteration";
  return fmt::format("PC {} is applied there; on the GPU work {}", type_of(pc_of(ksp)),
                     resident_preconditioners());
}

void prepare(KSP ksp, const LoopChoice& choice) {
  Mat amat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  if (choice.loop == Loop::applied && would_loop_on_gpu(amat))
    say_once(comm_of(ksp),
             fmt::format("KSP {} runs its loop on the host, although there is a GPU, because {}",
                         type_name_of(ksp), why_on_host(ksp, choice.why)));
  ksp_place_preconditioner(ksp);
  if (choice.loop == Loop::resident) choose_row_order(ksp);
  engine_of(ksp).prepare(inputs_of(ksp, choice));
}

// While an object of this class lives, KSPBuildSolution shows `iterate`.
class Shown {
 public:
  Shown(KspEngine& engine, const Iterate& iterate) : engine_(engine) { engine.iterate = &iterate; }
  ~Shown() { engine_.iterate = nullptr; }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

 private:
  KspEngine& engine_;
};

// Reports an iteration to PETSc: history, monitors and, if the user has set one, the convergence
// test, whose verdict is returned.
Reason report_iteration(KSP ksp, const solvers::State& state, const Iterate& iterate) {
  const Shown shown(engine_of(ksp), iterate);
  report(ksp, {static_cast<PetscInt>(state.iterations), state.norm, state.reference, state.target});
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  if (state.rule.judged_by_caller) reason = ask_convergence_test(ksp);
  return static_cast<Reason>(static_cast<int>(reason));
}

void solve_by_petscs_loop(KSP ksp, const EngineChoice& why) {
  KspEngine& engine = engine_of(ksp);
  const std::string type(solvers::info_of(engine.method()).petsc_name);
  const KSPNormType norm =
      engine.borrowed.prepare(ksp, type.c_str(), engine.method_options().restart);
  engine.facts = {};
  engine.facts.executor = fmt::format("PETSc's own loop ({}) in the norm {}, because {}", type,
                                      KSPNormTypes[norm], describe(why));
  say_once(comm_of(ksp),
           fmt::format("KSP {} solves by {}", type_name_of(ksp), engine.facts.executor));
  engine.borrowed.solve(ksp, engine.options_read);
}

void solve(KSP ksp) {
  KspEngine& engine = engine_of(ksp);
  const bool ignores_guess = std::exchange(engine.ignores_guess, false);
  const LoopChoice choice = choose_loop(ksp);
  KspRequests asked = requests_of(ksp);
  engine.borrowed.forget();
  require_loop(ksp, choice);
  if (choice.loop == Loop::petscs) {
    if (ignores_guess) set_local_values_to_zero(solution_of(ksp));
    return solve_by_petscs_loop(ksp, choice.why);
  }
  asked.zero_guess = asked.zero_guess || ignores_guess;
  prepare(ksp, choice);  // does nothing unless the Mat or the PC is new
  const ConsistentRightHandSide consistent(ksp, solvers::info_of(engine.method()).symmetric);
  solvers::IterationObserver observer;
  observer.iteration = [ksp](const solvers::State& state, const Iterate& iterate) {
    return report_iteration(ksp, state, iterate);
  };
  observer.stop = engine.stop;
  const solvers::Tolerances rule = tolerances_of(ksp, asked);
  Vec b = right_hand_side_of(ksp), x = solution_of(ksp);
  const solvers::SolveResult outcome = engine.solve(b, x, asked.zero_guess, rule, observer);
  const KSPConvergedReason reason = reason_of(ksp, outcome, rule, b, x);
  set_result(ksp, static_cast<PetscInt>(outcome.iterations), outcome.norm, reason);
  engine.facts = facts_of(engine, outcome);
}

PetscErrorCode ksp_set_up(KSP ksp) {
  return petsc_guard(comm_of(ksp), [&] { ksp_place_preconditioner(ksp); });
}

PetscErrorCode ksp_solve(KSP ksp) {
  return petsc_guard(comm_of(ksp), [&] { solve(ksp); });
}

PetscErrorCode mat_solve(KSP ksp, Mat b, Mat x) {
  return petsc_guard(comm_of(ksp), [&] { ksp_mat_solve(ksp, b, x, [ksp] { solve(ksp); }); });
}

PetscErrorCode ksp_set_from_options(KSP ksp, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  KspEngine& engine = engine_of(ksp);
  engine.options_read = true;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme's resident solver options");
  if (has_variants(engine)) {
    auto variant = static_cast<PetscInt>(engine.variant());
    PetscCall(PetscOptionsEList("-ksp_trireme_variant",
                                "single_reduction: one point of global sums per iteration", "",
                                kVariantNames, 4, kVariantNames[variant], &variant, nullptr));
    engine.set_variant(static_cast<Variant>(variant));
  }
  if (engine.info().restarts) {
    PetscInt restart = engine.method_options().restart;
    PetscCall(PetscOptionsBoundedInt("-ksp_trireme_restart", "iterations per cycle", "", restart,
                                     &restart, nullptr, 1));
    engine.set_method_options({static_cast<std::int32_t>(restart)});
  }
  PetscOptionsHeadEnd();
  PetscFunctionReturn(kPetscSuccess);
}

// KSPBuildSolution. While a monitor runs, x may be one step behind the norm that the monitor is
// told; the vector that is shown includes that step.
PetscErrorCode ksp_build_solution(KSP ksp, Vec into, Vec* shown) {
  return petsc_guard(comm_of(ksp), [&] {
    KspEngine& engine = engine_of(ksp);
    Vec x_now = solution_of(ksp);
    if (engine.in_block || !x_now)
      fail(ExitCode::usage,
           "KSP {}: a solve for many right-hand sides has no vector of the solution; ask after a "
           "KSPSolve, or use a monitor that does not ask for the solution",
           type_name_of(ksp));
    if (engine.info().restarts && engine.iterate)
      fail(ExitCode::usage,
           "KSP {}: a monitor or a test asks for the solution, which is formed at the end of a "
           "cycle only; use PETSc's own solver with it",
           type_name_of(ksp));
    if (engine.on_device() && engine.iterate)
      fail(ExitCode::usage,
           "KSP {}: a monitor asks for the solution, which is on the device while the loop runs; "
           "use PETSc's own solver with that monitor",
           type_name_of(ksp));
    note_change(x_now);  // otherwise PETSc may return a norm that it has kept
    const Iterate* const iterate = engine.iterate;
    const bool in_order = iterate && engine.in_order();  // x_now is not the iterate then
    if (!into && !in_order && (!iterate || iterate->step == 0)) {
      if (shown) *shown = x_now;
      return;
    }
    if (!into) {
      if (!engine.shown) petsc_check(VecDuplicate(x_now, engine.shown.put()));
      into = engine.shown;
    }
    petsc_check(VecCopy(x_now, into));
    if (in_order || (iterate && iterate->step != 0)) {
      PetscScalar* x = nullptr;
      petsc_check(VecGetArray(into, &x));
      for (std::size_t i = 0; in_order && i < iterate->x.size(); ++i)
        x[iterate->order[i]] = iterate->x[i];
      for (std::size_t i = 0; i < iterate->direction.size(); ++i)
        x[in_order ? iterate->order[i] : i] += iterate->step * iterate->direction[i];
      petsc_check(VecRestoreArray(into, &x));
    }
    if (shown) *shown = into;
  });
}

PetscErrorCode ksp_view(KSP ksp, PetscViewer viewer) {
  PetscFunctionBegin;
  const KspEngine& engine = engine_of(ksp);
  PetscBool ascii = PETSC_FALSE;
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(kPetscSuccess);
  if (engine.borrowed.in_use()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: %s\n", engine.facts.executor.c_str()));
    PetscFunctionReturn(kPetscSuccess);
  }
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  resident loop%s, convergence checked by b - A x\n",
      solvers::has_variant(engine.method(), Variant::single_reduction)
          ? fmt::format(", variant {}", kVariantNames[static_cast<int>(engine.variant())]).c_str()
          : ""));
  if (engine.info().restarts)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  cycles of %d iterations\n",
                                     static_cast<int>(engine.method_options().restart)));
  if (engine.applies_pc())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  PC applied by PCApply on the host\n"));
  if (!engine.facts.executor.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: %s, %s, residual replaced %d times\n",
                                     engine.facts.executor.c_str(), engine.facts.variant.c_str(),
                                     engine.facts.replacements));
  if (engine.facts.variant_times)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", why_variant(engine.facts).c_str()));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode ksp_extreme_singular_values(KSP ksp, PetscReal* largest, PetscReal* smallest) {
  return petsc_guard(comm_of(ksp), [&] {
    engine_of(ksp).borrowed.extreme_singular_values(ksp, largest, smallest);
  });
}

PetscErrorCode ksp_eigenvalues(KSP ksp, PetscInt n, PetscReal* real, PetscReal* imaginary,
                               PetscInt* count) {
  return petsc_guard(comm_of(ksp),
                     [&] { engine_of(ksp).borrowed.eigenvalues(ksp, n, real, imaginary, count); });
}

PetscErrorCode ksp_reset(KSP ksp) {
  KspEngine& engine = engine_of(ksp);
  engine.forget();
  engine.borrowed.forget();
  engine.shown.reset();
  return kPetscSuccess;
}

PetscErrorCode ksp_destroy(KSP ksp) {
  delete &engine_of(ksp);
  forget_data(ksp);
  return kPetscSuccess;
}

template <class Entry>
PetscErrorCode ksp_create(KSP ksp) {
  constexpr solvers::MethodInfo info = Entry::type::info;
  constexpr PCSide side = info.right_preconditioned ? PC_RIGHT : PC_LEFT;
  KspHandle petscs;
  PetscFunctionBegin;
  // Ours come first: PETSc's types give ranks of at most 3.
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, side, 30));
  if (info.tests_preconditioned_norm)
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, side, 20));
  if (info.tests_natural_norm) PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, side, 20));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, side, 10));
  PetscCall(KSPCreate(PETSC_COMM_SELF, petscs.put()));
  PetscCall(KSPSetType(petscs, info.petsc_name.data()));
  add_norms_of(ksp, petscs);
  auto engine = std::make_unique<KspEngine>(solvers::named_method(Entry{}));
  install(ksp,
          {ksp_set_up, ksp_solve, mat_solve, ksp_set_from_options, ksp_build_solution, ksp_view,
           ksp_reset, ksp_destroy, ksp_extreme_singular_values, ksp_eigenvalues},
          engine.release());
  PetscFunctionReturn(kPetscSuccess);
}

}  // namespace

void register_resident_types() {
  solvers::for_each_method([](auto entry) {
    using Entry = decltype(entry);
    petsc_check(KSPRegister(ksp_type_of(Entry::type::info).c_str(), ksp_create<Entry>));
  });
  register_resident_preconditioners();
  cudss::register_package();
}

std::string ksp_type_of(const solvers::MethodInfo& info) {
  return fmt::format("{}{}", kPrefix, info.name);
}

std::string ksp_type_of(Method method) { return ksp_type_of(solvers::info_of(method)); }

std::optional<solvers::NamedMethod> resident_method(std::string_view ksp_type) {
  if (!ksp_type.starts_with(kPrefix)) return std::nullopt;
  const std::string_view name = ksp_type.substr(kPrefix.size());
  const auto method = solvers::method_named(name);
  return method && method->info.name == name ? method : std::nullopt;
}

void ksp_place_preconditioner(KSP ksp) {
  GivenPc* const given = given_pc_of(pc_of(ksp));
  PetscBool known = PETSC_FALSE;
  petsc_check(KSPGetOperatorsSet(ksp, &known, nullptr));
  if (!given || known == PETSC_FALSE) return;
  Mat amat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  std::shared_ptr<CudaOperator> on_gpu;  // where operator_of() would move a Mat to
  if (is_resident(ksp) && choose_loop(ksp).loop == Loop::resident)
    on_gpu = std::dynamic_pointer_cast<CudaOperator>(operator_of(amat));
  if (on_gpu)
    given->place(on_gpu->request_for_more());
  else
    given->place(std::nullopt);
}

void ksp_prepare(KSP ksp) {
  if (!is_resident(ksp)) return;
  ksp_place_preconditioner(ksp);
  const LoopChoice choice = choose_loop(ksp);
  if (choice.loop != Loop::resident && choice.loop != Loop::applied) return;
  petsc_check(PCSetUp(pc_of(ksp)));
  prepare(ksp, choice);
}

void ksp_measure_variant(KSP ksp) {
  if (is_resident(ksp) && has_variants(engine_of(ksp)))
    engine_of(ksp).set_variant(Variant::measured);
}

void ksp_set_restart(KSP ksp, std::int64_t restart) {
  if (is_resident(ksp))
    engine_of(ksp).set_method_options({static_cast<std::int32_t>(restart)});
  else
    petsc_check(KSPGMRESSetRestart(ksp, static_cast<PetscInt>(restart)));
}

void ksp_set_row_test(KSP ksp, solvers::RowTest rows) {
  if (is_resident(ksp)) engine_of(ksp).row_test = rows;
}

void ksp_drop_worse_guesses(KSP ksp) {
  if (is_resident(ksp)) engine_of(ksp).drops_worse_guess = true;
}

void ksp_ignore_guess(KSP ksp) {
  if (is_resident(ksp)) engine_of(ksp).ignores_guess = true;
}

void ksp_set_stop(KSP ksp, std::function<bool()> stop) {
  if (is_resident(ksp)) engine_of(ksp).stop = std::move(stop);
}

solvers::StoppedSolve ksp_stopped_solve(KSP ksp) {
  if (!is_resident(ksp))
    fail(ExitCode::internal, "KSP type {} does not keep the directions of a stopped solve",
         type_name_of(ksp));
  return engine_of(ksp).stopped();
}

void ksp_go_on(KSP ksp, solvers::StoppedSolve stopped) {
  if (!is_resident(ksp))
    fail(ExitCode::internal, "KSP type {} cannot go on from a stopped solve", type_name_of(ksp));
  engine_of(ksp).going_on = std::move(stopped);
}

void ksp_use_device_vectors(KSP ksp, const std::optional<DeviceVectors>& vectors) {
  if (vectors && !ksp_takes_device_vectors(ksp))
    fail(ExitCode::internal, "KSP type {} does not take vectors on the device", type_name_of(ksp));
  if (is_resident(ksp)) engine_of(ksp).device_vectors = vectors;
}

bool ksp_takes_device_vectors(KSP ksp) {
  return is_resident(ksp) && engine_of(ksp).on_device() && printing_option(ksp).empty() &&
         solution_monitor(ksp).empty();
}

bool ksp_renew_on_device(KSP ksp) {
  return is_resident(ksp) && engine_of(ksp).renew_on_device(pc_of(ksp));
}

std::string ksp_executor(KSP ksp) { return is_resident(ksp) ? engine_of(ksp).executor() : ""; }

std::optional<KspFacts> ksp_facts(KSP ksp) {
  if (!is_resident(ksp)) return std::nullopt;
  return engine_of(ksp).facts;
}

}  // namespace trireme
