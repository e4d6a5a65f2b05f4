// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/pc/given_pc.hpp"

#include "petsc/pc/pc_approximate_inverses.hpp"
#include "petsc/pc/pc_incomplete_factors.hpp"
#include "petsc/pc/pc_multigrid.hpp"

namespace trireme {

GivenPc* given_pc_of(PC pc) {
  if (MultigridPc* const multigrid = multigrid_of(pc)) return multigrid;
  if (GivenPc* const inverse = approximate_inverse_of(pc)) return inverse;
  return incomplete_factors_of(pc);
}

}  // namespace trireme
