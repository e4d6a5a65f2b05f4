// SPDX-License-Identifier: BSD-3-Clause
#include "app/system/entries_of_case.hpp"

#include <string>

#include "kernels/registry.hpp"
#include "petsc/mat/case_kernels.hpp"

namespace trireme {

Entries entries_for(const Case& c) {
  for (const std::string& name : c.kernels) {
    if (name == kAuto || name == kPetscAij) continue;
    if (!find_kernel(name).cuda_copies_entries) return Entries::needed;
  }
  using Data = solvers::PreconditionerData;
  const auto* const own = c.solver.first_preconditioner().own();
  const bool reads = own && own->info.data != Data::nothing && own->info.data != Data::diagonal;
  return reads ? Entries::needed : Entries::where_they_fit_well;
}

}  // namespace trireme
