// SPDX-License-Identifier: BSD-3-Clause
// PETSc is asked by setting the types of a KSP that has no system.
#include "petsc/ksp/known_names.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

// What was meant by `word`, of `names` and those in a list of PETSc's.
std::string suggestion(const std::string& word, PetscFunctionList list,
                       std::vector<std::string> names) {
  const char** registered = nullptr;
  int count = 0;
  petsc_check(PetscFunctionListGet(list, &registered, &count));
  for (int k = 0; k < count && registered[k]; ++k)  // some releases count a null at the end
    names.emplace_back(registered[k]);
  petsc_check(PetscFree(registered));
  // One of our types may be meant without what our names begin with: chebyshev, cg, mg.
  std::vector<std::string> endings;
  const std::string beginning = "trireme_";
  for (const std::string& name : names)
    if (name.starts_with(beginning)) endings.push_back(name.substr(beginning.size()));
  auto near = nearest(word, names);
  const auto ending = nearest(word, endings);
  if (ending && (!near || edit_distance(word, *ending) < edit_distance(word, *near)))
    near = beginning + *ending;
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

}  // namespace

void require_known_names(MPI_Comm comm, const SolverSpec& spec) {
  register_resident_types();
  KspHandle ksp;
  petsc_check(KSPCreate(comm, ksp.put()));
  if (KSPSetType(ksp, petsc_ksp_type(spec.first_method()).c_str()) != kPetscSuccess) {
    std::vector<std::string> names = {std::string(kAuto)};
    solvers::for_each_method(
        [&](auto entry) { names.emplace_back(decltype(entry)::type::info.name); });
    names.emplace_back(kDirect);
    fail(ExitCode::usage, "solver.method '{}' is none of {}, {}, {}, and no KSP of this PETSc{}",
         spec.method, kAuto, resident_methods(), kDirect, suggestion(spec.method, KSPList, names));
  }
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  const AnyPreconditioner preconditioner = spec.first_preconditioner();
  if (PCSetType(pc, preconditioner.petsc_type().c_str()) != kPetscSuccess) {
    std::vector<std::string> names = {std::string(kAuto)};
    solvers::for_each_preconditioner_name(
        [&](solvers::PreconditionerKind, const solvers::PreconditionerName& name) {
          names.emplace_back(name.name);
        });
    fail(ExitCode::usage, "solver.preconditioner '{}' is none of {}, {}, and no PC of this PETSc{}",
         preconditioner.name(), kAuto, resident_preconditioners(),
         suggestion(preconditioner.name(), PCList, names));
  }
}

}  // namespace trireme
