// SPDX-License-Identifier: BSD-3-Clause
// What is made once for a kernel and kept over all solves: the product, and the solver that is set
// up for it.
#pragma once

#include <memory>

#include "app/product_figures.hpp"
#include "petsc/amat.hpp"
#include "petsc/ksp_solver.hpp"

namespace trireme {

struct Plan {
  std::unique_ptr<Amat> amat;
  std::unique_ptr<KspSolver> solver;  // multiplies by `amat`
  PeakMemory memory;                  // after building `amat`
};

}  // namespace trireme
