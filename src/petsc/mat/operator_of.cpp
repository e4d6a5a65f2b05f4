// SPDX-License-Identifier: BSD-3-Clause
// Asks both kinds of Mat that have an operator.
#include "petsc/mat/operator_of.hpp"

#include "distributed/cuda_operator.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/mat/mat_trireme.hpp"
#include "petsc/mat/mat_trireme_options.hpp"

namespace trireme {

std::shared_ptr<Operator> operator_of(Mat mat) {
  if (auto op = shell_operator(mat)) return op;
  return trireme_operator(mat, AijProducts::Caller::resident_loop);
}

bool would_loop_on_gpu(Mat mat) {
  if (const auto op = shell_operator(mat)) return dynamic_cast<CudaOperator*>(op.get()) != nullptr;
  if (!is_trireme(mat)) return false;
  read_missing_options(mat, products_of(mat));
  return products_of(mat).prefers_gpu(comm_of(mat));
}

std::shared_ptr<Operator> operator_of_host_loop(Mat mat) {
  if (auto op = shell_operator(mat)) return op;
  return trireme_operator(mat, AijProducts::Caller::mat_mult);
}

}  // namespace trireme
