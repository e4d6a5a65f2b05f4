// SPDX-License-Identifier: BSD-3-Clause
// Asks both kinds of Mat that have an operator.
#include "petsc/operator_of.hpp"

#include "distributed/cuda_operator.hpp"
#include "petsc/mat_shell.hpp"
#include "petsc/mat_trireme.hpp"

namespace trireme {

std::shared_ptr<Operator> operator_of(Mat mat) {
  if (auto op = shell_operator(mat)) return op;
  return trireme_operator(mat, AijProducts::Caller::resident_loop);
}

bool would_loop_on_gpu(Mat mat) {
  if (const auto op = shell_operator(mat)) return dynamic_cast<CudaOperator*>(op.get()) != nullptr;
  return is_trireme(mat) && products_of(mat).prefers_gpu(comm_of(mat));
}

std::shared_ptr<Operator> operator_of_host_loop(Mat mat) {
  if (auto op = shell_operator(mat)) return op;
  return trireme_operator(mat, AijProducts::Caller::mat_mult);
}

}  // namespace trireme
