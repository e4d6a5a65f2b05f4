// SPDX-License-Identifier: BSD-3-Clause
// Where the resident types serve, by names and options.
#include "base/error.hpp"
#include "distributed/cuda_operator.hpp"
#include "petsc/ksp_engine.hpp"
#include "petsc/ksp_types.hpp"
#include "petsc/operator_of.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

// KSPSolve reads these itself, after the loop.
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

std::string options_without_meaning(KSP ksp) {
  const std::vector<std::string> unread = unread_ksp_options(ksp);
  // This one PETSc's CG may have read, in an earlier solve.
  const char* const petsc_cg = "-ksp_cg_single_reduction";
  return unread.empty() && is_given(ksp, petsc_cg) ? petsc_cg
                                                   : fmt::format("{}", fmt::join(unread, ", "));
}

std::string monitor_of_the_solution(KSP ksp) {
  for (const char* name : {"true_residual", "max", "solution", "error", "range", "lg_range"})
    if (const std::string option = fmt::format("-ksp_monitor_{}", name); is_given(ksp, option))
      return option;
  return {};
}

}  // namespace

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

std::string resident_ksp_type(std::string_view method) {
  if (resident_method(method)) return std::string(method);
  const auto named = solvers::method_named(method);
  return named ? ksp_type_of(*named) : "";
}

std::string why_not_resident(std::string_view method, std::string_view preconditioner) {
  const auto resident = resident_method(resident_ksp_type(method));
  if (!resident) {
    std::vector<std::string_view> names;
    solvers::for_each_method(
        [&](auto entry) { names.push_back(solvers::info_of(entry.method).name); });
    return fmt::format("the resident engine has {}, not {}", fmt::join(names, ", "), method);
  }
  const auto kind = resident_preconditioner(preconditioner);
  if (kind && solvers::info_of(*kind).symmetric && !solvers::info_of(*resident).symmetric)
    return fmt::format("the {} is for symmetric matrices: use it with cg",
                       solvers::info_of(*kind).summary);
  if (kind) return {};
  if (preconditioner == PCBJACOBI)
    return "bjacobi, PETSc's default, solves each block by a KSP of its own; the resident engine "
           "has jacobi, and dense blocks by pbjacobi and vpbjacobi";
  std::vector<std::string_view> own = {PCNONE, PCJACOBI, PCPBJACOBI, PCVPBJACOBI};
  solvers::for_each_preconditioner([&](solvers::PreconditionerKind, auto m) {
    if (const std::string_view type = decltype(m)::type::info.pc_type; !type.empty())
      own.push_back(type);
  });
  return fmt::format("the resident engine has the preconditioners {}, not {}", fmt::join(own, ", "),
                     preconditioner);
}

std::string why_not_resident(KSP ksp) {
  KSPType type = nullptr;
  PC pc = nullptr;
  PCType pc_type = nullptr;
  Mat amat = nullptr, pmat = nullptr;
  petsc_check(KSPGetType(ksp, &type));
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCGetType(pc, &pc_type));
  petsc_check(KSPGetOperators(ksp, &amat, &pmat));
  const std::string_view preconditioner = pc_type ? pc_type : PCNONE;
  if (std::string why = why_not_resident(type, preconditioner); !why.empty()) return why;
  PetscInt block_size = 1;
  petsc_check(MatGetBlockSize(pmat, &block_size));
  if ((preconditioner == PCPBJACOBI || preconditioner == kTriremePbjacobi) && block_size > 32)
    return fmt::format("the resident engine inverts blocks of up to 32 rows, not {}", block_size);

  const std::string none = "the resident engine has no ";
  if (static_cast<const KspEngine*>(data_of(ksp))->options_read)
    if (const std::string options = options_without_meaning(ksp); !options.empty())
      return none + "use for " + options;
  const KspRequests asked = requests_of(ksp);
  if (asked.eigenvalues) return none + "eigenvalues, singular values or Ritz pairs";
  if (asked.lagged_norm) return none + "lagged norm (-ksp_lag_norm)";
  if (asked.transposed) return none + "transposed solves";
  if (asked.error_history) return none + "error history";
  if (asked.diagonal_scaling)
    return none + "diagonal scaling (-ksp_diagonal_scale); jacobi does the same";
  MatNullSpace null_space = nullptr;
  petsc_check(MatGetNullSpace(amat, &null_space));
  if (null_space) return none + "null space (MatSetNullSpace, -ksp_constant_null_space)";
  if (std::dynamic_pointer_cast<CudaOperator>(operator_of(amat)))
    if (const std::string monitor = monitor_of_the_solution(ksp); !monitor.empty())
      return fmt::format(
          "{} asks for x in each iteration, which the resident engine keeps on the "
          "GPU",
          monitor);
  KSPNormType norm = KSP_NORM_DEFAULT;
  if (KSPGetNormType(ksp, &norm) != kPetscSuccess)
    return none + "such -ksp_norm_type or -ksp_pc_side";
  return {};
}

}  // namespace trireme
