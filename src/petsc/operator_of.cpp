// SPDX-License-Identifier: BSD-3-Clause
// Asks both kinds of Mat that have an operator.
#include "petsc/operator_of.hpp"

#include "petsc/mat_shell.hpp"
#include "petsc/mat_trireme.hpp"

namespace trireme {

std::shared_ptr<Operator> operator_of(Mat mat) {
  if (auto op = shell_operator(mat)) return op;
  return trireme_operator(mat);
}

}  // namespace trireme
