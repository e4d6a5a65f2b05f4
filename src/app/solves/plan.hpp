// SPDX-License-Identifier: BSD-3-Clause
// What is made once for a kernel and kept over all solves: the product, and the solver that is set
// up for it.
#pragma once

#include <memory>

#include "app/figures/product_figures.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/mat/amat.hpp"

namespace trireme {

struct Plan {
  std::unique_ptr<Amat> amat;
  std::unique_ptr<KspSolver> solver;  // multiplies by `amat`
  PeakMemory memory;                  // after building `amat`
};

}  // namespace trireme
