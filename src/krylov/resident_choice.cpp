// SPDX-License-Identifier: BSD-3-Clause
// Where the resident types serve, by names and options.
#include "base/error.hpp"
#include "krylov/ksp_register.hpp"
#include "operators/petsc_shim.hpp"

namespace trireme {
namespace {

// KSPSolve reads these itself, after the loop.
bool read_after_the_solve(std::string_view option) {
  for (const std::string_view start :
       {"converged_reason", "converged_rate", "final_residual", "view", "monitor_pause"})
    if (option.starts_with(start)) return true;
  return false;
}

}  // namespace

std::string resident_ksp_type(std::string_view method) {
  if (method == "cg" || method == kTriremeCg) return kTriremeCg;
  if (method == "bicgstab" || method == "bcgs" || method == kTriremeBicgstab)
    return kTriremeBicgstab;
  return {};
}

std::string why_not_resident(std::string_view method, std::string_view preconditioner) {
  const std::string type = resident_ksp_type(method);
  if (type.empty()) return fmt::format("the resident engine has cg and bicgstab, not {}", method);
  if (preconditioner == kTriremeChebyshev && type != kTriremeCg)
    return fmt::format("{} is for symmetric matrices: use it with cg", kTriremeChebyshev);
  for (const std::string_view known :
       {PCNONE, PCJACOBI, PCPBJACOBI, PCVPBJACOBI, kTriremeBlockJacobi, kTriremePbjacobi,
        kTriremeVpbjacobi, kTriremeChebyshev})
    if (preconditioner == known) return {};
  if (preconditioner == PCBJACOBI)
    return "bjacobi, PETSc's default, solves each block by a KSP of its own; the resident engine "
           "has jacobi, and dense blocks by pbjacobi and vpbjacobi";
  return fmt::format(
      "the resident engine has the preconditioners none, jacobi, pbjacobi, vpbjacobi, {} and {}, "
      "not {}",
      kTriremeBlockJacobi, kTriremeChebyshev, preconditioner);
}

std::string ksp_options_without_meaning(KSP ksp) {
  const char* prefix = nullptr;
  petsc_check(KSPGetOptionsPrefix(ksp, &prefix));
  const std::string start = std::string(prefix ? prefix : "") + "ksp_";
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  PetscOptions options = nullptr;
  petsc_check(PetscObjectGetOptions(reinterpret_cast<PetscObject>(ksp), &options));
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

}  // namespace trireme
