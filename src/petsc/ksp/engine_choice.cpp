// SPDX-License-Identifier: BSD-3-Clause
// The reasons, first those of names, then those of options and of the matrix.
#include "petsc/ksp/engine_choice.hpp"

#include "base/error.hpp"
#include "distributed/cuda_operator.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/applied_pc.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

constexpr PetscInt kMaxBlockRows = 32;  // that the resident engine inverts

// Whether KSPSolve itself reads the option, after the loop.
bool read_after_the_solve(std::string_view option) {
  for (const std::string_view start :
       {"converged_reason", "converged_rate", "final_residual", "view", "monitor_pause"})
    if (option.starts_with(start)) return true;
  return false;
}

std::string prefix_of(KSP ksp) {
  const char* prefix = nullptr;
  petsc_check(KSPGetOptionsPrefix(ksp, &prefix));
  return prefix ? prefix : "";
}

PetscOptions options_of(KSP ksp) {
  PetscOptions options = nullptr;
  petsc_check(PetscObjectGetOptions(reinterpret_cast<PetscObject>(ksp), &options));
  return options;
}

bool is_given(KSP ksp, const std::string& name) {
  PetscBool given = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(options_of(ksp), prefix_of(ksp).c_str(), name.c_str(), &given));
  return given;
}

}  // namespace

std::string solution_monitor(KSP ksp) {
  for (const char* name : {"true_residual", "max", "solution", "error", "range", "lg_range"})
    if (std::string option = fmt::format("-ksp_monitor_{}", name); is_given(ksp, option))
      return option;
  return {};
}

std::string printing_option(KSP ksp) {
  for (const char* name :
       {"view", "view_pre", "view_mat", "view_pmat", "view_rhs", "view_solution",
        "view_final_residual", "view_eigenvalues", "converged_reason", "converged_rate"})
    if (std::string option = fmt::format("-ksp_{}", name); is_given(ksp, option)) return option;
  return {};
}

std::vector<std::string> unread_ksp_options(KSP ksp) {
  const std::string start = prefix_of(ksp) + "ksp_";
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  petsc_check(PetscOptionsLeftGet(options_of(ksp), &count, &names, &values));
  std::vector<std::string> unread;
  for (PetscInt k = 0; k < count; ++k) {
    const std::string_view name = names[k];
    if (name.starts_with(start) && !read_after_the_solve(name.substr(start.size())))
      unread.push_back(fmt::format("-{}", name));
  }
  petsc_check(PetscOptionsLeftRestore(options_of(ksp), &count, &names, &values));
  return unread;
}

std::string options_without_meaning(KSP ksp) {
  const std::vector<std::string> unread = unread_ksp_options(ksp);
  // PETSc's CG may have read this option in an earlier solve.
  const char* const petsc_cg = "-ksp_cg_single_reduction";
  return unread.empty() && is_given(ksp, petsc_cg) ? petsc_cg
                                                   : fmt::format("{}", fmt::join(unread, ", "));
}

std::string resident_ksp_type(std::string_view method) {
  if (resident_method(method)) return std::string(method);
  const auto named = solvers::method_named(method);
  return named ? ksp_type_of(named->info) : "";
}

std::string petsc_ksp_type(std::string_view method) {
  if (method == kDirect) return KSPRICHARDSON;  // by complete factors, that is refinement
  const auto named = solvers::method_named(method);
  return std::string(named ? named->info.petsc_name : method);
}

std::string resident_methods() {
  return solvers::method_names([](const solvers::MethodInfo&) { return true; });
}

std::string describe(const EngineChoice& choice) {
  const std::string& subject = choice.subject;
  switch (choice.reason) {
    case EngineReason::serves:
      return "";
    case EngineReason::asked_for:
      return "solver.engine is petsc";
    case EngineReason::ksp_type_option:
      return "-ksp_type " + subject;
    case EngineReason::method:
      return fmt::format("the resident engine has {}, not {}", resident_methods(), subject);
    case EngineReason::preconditioner:
      return fmt::format("the resident engine has the preconditioners {}, not {}",
                         resident_preconditioners(), subject);
    case EngineReason::petsc_block_jacobi:
      return fmt::format(
          "bjacobi, PETSc's default, solves each block by a KSP of its own; the resident engine "
          "has "
          "{}, and dense blocks by {}",
          solvers::name_of(solvers::PreconditionerKind::jacobi),
          resident_preconditioners(solvers::PreconditionerKind::blocks));
    case EngineReason::symmetric_preconditioner:
      return fmt::format("{} is for symmetric matrices: use it with one of {}", subject,
                         solvers::symmetric_methods());
    case EngineReason::nonsymmetric_preconditioner:
      return fmt::format("{} is not symmetric: use it with one of {}", subject,
                         solvers::nonsymmetric_methods());
    case EngineReason::block_size:
      return fmt::format("the resident engine inverts blocks of at most {} rows, not {}",
                         kMaxBlockRows, subject);
    case EngineReason::unused_options:
      return "the resident engine has no use for " + subject;
    case EngineReason::eigenvalues:
      return "the resident engine has no eigenvalues, singular values or Ritz pairs";
    case EngineReason::lagged_norm:
      return "the resident engine has no lagged norm (-ksp_lag_norm)";
    case EngineReason::transposed_solves:
      return "the resident engine has no transposed solves";
    case EngineReason::error_history:
      return "the resident engine has no error history";
    case EngineReason::diagonal_scaling:
      return "the resident engine has no diagonal scaling (-ksp_diagonal_scale); jacobi does the "
             "same";
    case EngineReason::null_space:
      return "the resident engine has no null space (MatSetNullSpace, -ksp_constant_null_space)";
    case EngineReason::monitor_of_the_solution:
      return fmt::format(
          "{} asks for x in each iteration, which the resident engine keeps on the GPU", subject);
    case EngineReason::monitor_within_a_cycle:
      return fmt::format(
          "{} asks for x in each iteration, and the resident engine forms it at the end of a cycle",
          subject);
    case EngineReason::norm_or_side:
      return "the resident engine has no such -ksp_norm_type or -ksp_pc_side";
  }
  return "";
}

EngineChoice choose_engine(std::string_view method, const AnyPreconditioner& preconditioner) {
  const auto resident = resident_method(resident_ksp_type(method));
  if (!resident) return EngineChoice::petsc(EngineReason::method, std::string(method));
  if (const auto* const own = preconditioner.own()) {
    if (own->info.symmetric && !resident->info.symmetric)
      return EngineChoice::petsc(EngineReason::symmetric_preconditioner,
                                 fmt::format("the {}", own->info.summary));
    if (own->info.nonsymmetric && resident->info.symmetric)
      return EngineChoice::petsc(EngineReason::nonsymmetric_preconditioner,
                                 fmt::format("the {}", own->info.summary));
    return {};
  }
  if (preconditioner.name() == PCBJACOBI)
    return EngineChoice::petsc(EngineReason::petsc_block_jacobi);
  return EngineChoice::petsc(EngineReason::preconditioner, preconditioner.name());
}

EngineChoice choose_engine(const SolverSpec& spec) {
  if (spec.engine == Engine::petsc) return EngineChoice::petsc(EngineReason::asked_for);
  return choose_engine(spec.first_method(), spec.first_preconditioner());
}

EngineChoice choose_engine_on_gpu(const std::string& solution_monitor) {
  if (!solution_monitor.empty())
    return EngineChoice::petsc(EngineReason::monitor_of_the_solution, solution_monitor);
  return {};
}

namespace {

// What the resident loop has no preconditioner of its own for.
EngineChoice choose_by_preconditioner(KSP ksp) {
  using enum EngineReason;
  KSPType type = nullptr;
  Mat amat = nullptr, pmat = nullptr;
  petsc_check(KSPGetType(ksp, &type));
  petsc_check(KSPGetOperators(ksp, &amat, &pmat));
  const AnyPreconditioner of_pc = preconditioner_of(pc_of(ksp));
  if (EngineChoice by_names = choose_engine(type, of_pc); !by_names.resident()) return by_names;
  PetscInt block_rows = 1;
  petsc_check(MatGetBlockSize(pmat, &block_rows));
  if (of_pc.name() == PCPBJACOBI && block_rows > kMaxBlockRows)
    return EngineChoice::petsc(block_size, fmt::format("{}", block_rows));
  if (null_space_of(amat)) return EngineChoice::petsc(null_space);
  if (const std::string monitor = solution_monitor(ksp); !monitor.empty())
    if (std::dynamic_pointer_cast<CudaOperator>(operator_of(amat)))
      return choose_engine_on_gpu(monitor);
  return {};
}

// Whether the loop of the method can test the norm that the KSP has, on its side.
bool tests_norm(KSP ksp) {
  KSPType type = nullptr;
  KSPNormType norm = KSP_NORM_DEFAULT;
  PCSide side = PC_SIDE_DEFAULT;
  petsc_check(KSPGetType(ksp, &type));
  if (KSPGetNormType(ksp, &norm) != kPetscSuccess || KSPGetPCSide(ksp, &side) != kPetscSuccess)
    return false;
  const solvers::MethodInfo info = resident_method(type)->info;
  if (side != (info.right_preconditioned ? PC_RIGHT : PC_LEFT)) return false;
  if (norm == KSP_NORM_PRECONDITIONED) return info.tests_preconditioned_norm;
  return norm != KSP_NORM_NATURAL || info.tests_natural_norm;
}

// What the resident loop lacks whatever the preconditioner is.
EngineChoice choose_by_requests(KSP ksp) {
  using enum EngineReason;
  const KspRequests asked = requests_of(ksp);
  if (asked.eigenvalues) return EngineChoice::petsc(eigenvalues);
  if (asked.lagged_norm) return EngineChoice::petsc(lagged_norm);
  if (asked.transposed) return EngineChoice::petsc(transposed_solves);
  if (asked.error_history) return EngineChoice::petsc(error_history);
  if (asked.diagonal_scaling) return EngineChoice::petsc(diagonal_scaling);
  if (!tests_norm(ksp)) return EngineChoice::petsc(norm_or_side);
  KSPType type = nullptr;
  petsc_check(KSPGetType(ksp, &type));
  if (resident_method(type)->info.restarts)
    if (const std::string monitor = solution_monitor(ksp); !monitor.empty())
      return EngineChoice::petsc(monitor_within_a_cycle, monitor);
  return {};
}

}  // namespace

EngineChoice choose_engine(KSP ksp) {
  EngineChoice choice = choose_by_preconditioner(ksp);
  return choice.resident() ? choose_by_requests(ksp) : choice;
}

LoopChoice choose_loop(KSP ksp) {
  const EngineChoice by_requests = choose_by_requests(ksp);
  const EngineChoice why = by_requests.resident() ? choose_by_preconditioner(ksp) : by_requests;
  if (why.resident()) return {};
  if (!works_in_petscs_loops(pc_of(ksp))) return {Loop::none, why};
  return {by_requests.resident() ? Loop::applied : Loop::petscs, why};
}

}  // namespace trireme
