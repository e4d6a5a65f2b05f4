// SPDX-License-Identifier: BSD-3-Clause
// The functions that PETSc calls, and their installation in a shell.
#include "petsc/mat/mat_shell.hpp"

#include <utility>

#include "distributed/cuda_operator.hpp"
#include "petsc/log_events.hpp"
#include "petsc/mat/block_size.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vec_product.hpp"

namespace trireme {
namespace {

struct ShellContext {
  std::shared_ptr<Operator> op;
  LoggedProduct log;
};

constexpr const char* kMark = "TriremeShell_C";  // composed with every shell of make_shell()

ShellContext& context_of(Mat mat) {
  ShellContext* context = nullptr;
  petsc_check(MatShellGetContext(mat, static_cast<void*>(&context)));
  return *context;
}

PetscErrorCode shell_mult(Mat mat, Vec x, Vec y) {
  return petsc_guard(comm_of(mat),
                     [&] { multiply(*context_of(mat).op, x, y, ProductOf::rounded_matrix); });
}

PetscErrorCode shell_mult_transpose(Mat mat, Vec x, Vec y) {
  return petsc_guard(comm_of(mat), [&] {
    Operator& op = *context_of(mat).op;
    op.multiply_transpose(ReadSpan(x).span(), WriteSpan(y).span());
    petsc_check(PetscLogFlops(2.0 * static_cast<double>(op.matrix().blocks.nnz())));
  });
}

PetscErrorCode shell_get_diagonal(Mat mat, Vec d) {
  return petsc_guard(comm_of(mat),
                     [&] { context_of(mat).op->matrix().diagonal(WriteSpan(d).span()); });
}

PetscErrorCode shell_destroy(Mat mat) {
  return petsc_guard(comm_of(mat), [&] {
    ShellContext* context = &context_of(mat);
    context->op->observe(nullptr);  // the operator may outlive the log
    delete context;
  });
}

}  // namespace

MatHandle make_shell(std::shared_ptr<Operator> op) {
  const DistributedMatrix& matrix = op->matrix();
  const auto rows = static_cast<PetscInt>(matrix.local_rows());
  const auto global_rows = static_cast<PetscInt>(matrix.global_rows());
  const MPI_Comm comm = matrix.comm;
  [[maybe_unused]] const bool on_device = dynamic_cast<CudaOperator*>(op.get()) != nullptr;
  auto context = std::make_unique<ShellContext>(ShellContext{std::move(op), {}});
  context->op->observe(&context->log);

  MatHandle shell;
  petsc_check(
      MatCreateShell(comm, rows, rows, global_rows, global_rows, context.get(), shell.put()));
  static_cast<void>(context.release());  // shell_destroy deletes it
  petsc_check(MatShellSetOperation(shell, MATOP_DESTROY, petsc_operation(shell_destroy)));
  // Nobody scales or shifts the shell, so PETSc may call our functions directly. PETSc wants this
  // call before the operations are set.
  petsc_check(MatShellSetManageScalingShifts(shell));
  petsc_check(MatShellSetOperation(shell, MATOP_MULT, petsc_operation(shell_mult)));
  petsc_check(
      MatShellSetOperation(shell, MATOP_MULT_TRANSPOSE, petsc_operation(shell_mult_transpose)));
  petsc_check(MatShellSetOperation(shell, MATOP_GET_DIAGONAL, petsc_operation(shell_get_diagonal)));
  petsc_check(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(static_cast<Mat>(shell)),
                                         kMark, petsc_operation(shell_mult)));
#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
  if (on_device) petsc_check(MatShellSetVecType(shell, VECCUDA));
#endif
  set_block_size_from_options(shell, matrix);
  petsc_check(MatSetUp(shell));
  return shell;
}

void replace_operator(Mat shell, std::shared_ptr<Operator> op, bool solver_starts_anew) {
  ShellContext& context = context_of(shell);
  context.op->observe(nullptr);
  context.op = std::move(op);
  context.op->observe(&context.log);
  if (solver_starts_anew) note_change(shell);
}

std::shared_ptr<Operator> shell_operator(Mat mat) {
  PetscOperation mark = nullptr;
  petsc_check(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(mat), kMark, &mark));
  return mark ? context_of(mat).op : nullptr;
}

}  // namespace trireme
