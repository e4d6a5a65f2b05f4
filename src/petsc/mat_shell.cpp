// SPDX-License-Identifier: BSD-3-Clause
// The functions that PETSc calls, and their installation.
#include "petsc/mat_shell.hpp"

#include <utility>

#include "distributed/cuda_operator.hpp"
#include "petsc/block_size.hpp"
#include "petsc/log_events.hpp"

namespace trireme {
namespace {

struct ShellContext {
  std::shared_ptr<Operator> op;
  LoggedProduct log;
};

constexpr const char* kMark = "TriremeShell_C";  // says that a MatShell's context is ours

ShellContext& context_of(Mat mat) {
  ShellContext* context = nullptr;
  petsc_check(MatShellGetContext(mat, static_cast<void*>(&context)));
  return *context;
}

std::size_t local_size(Vec vec) {
  PetscInt size = 0;
  petsc_check(VecGetLocalSize(vec, &size));
  return static_cast<std::size_t>(size);
}

// Vectors of PETSc in host memory as spans, restored when they go.
class ReadSpan {
 public:
  explicit ReadSpan(Vec vec) : vec_(vec), size_(local_size(vec)) {
    petsc_check(VecGetArrayRead(vec, &data_));
  }
  ~ReadSpan() { static_cast<void>(VecRestoreArrayRead(vec_, &data_)); }
  ReadSpan(const ReadSpan&) = delete;
  ReadSpan& operator=(const ReadSpan&) = delete;
  operator std::span<const double>() const { return {data_, size_}; }

 private:
  Vec vec_;
  std::size_t size_;
  const PetscScalar* data_ = nullptr;
};

class WriteSpan {
 public:
  explicit WriteSpan(Vec vec) : vec_(vec), size_(local_size(vec)) {
    petsc_check(VecGetArrayWrite(vec, &data_));
  }
  ~WriteSpan() { static_cast<void>(VecRestoreArrayWrite(vec_, &data_)); }
  WriteSpan(const WriteSpan&) = delete;
  WriteSpan& operator=(const WriteSpan&) = delete;
  operator std::span<double>() const { return {data_, size_}; }

 private:
  Vec vec_;
  std::size_t size_;
  PetscScalar* data_ = nullptr;
};

#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
// Device vectors where PETSc keeps them on the device; false where it does not.
bool multiply_on_device(Operator& op, Vec x, Vec y) {
  auto* cuda = dynamic_cast<CudaOperator*>(&op);
  if (!cuda) return false;
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscMemType from_type, to_type;
  petsc_check(VecGetArrayReadAndMemType(x, &from, &from_type));
  petsc_check(VecGetArrayWriteAndMemType(y, &to, &to_type));
  const bool on_device = PetscMemTypeDevice(from_type) && PetscMemTypeDevice(to_type);
  if (on_device)
    cuda->multiply(DeviceSpan<const double>(from, local_size(x)),
                   DeviceSpan<double>(to, local_size(y)), petsc_stream());
  petsc_check(VecRestoreArrayReadAndMemType(x, &from));
  petsc_check(VecRestoreArrayWriteAndMemType(y, &to));
  return on_device;
}
#else
bool multiply_on_device(Operator&, Vec, Vec) { return false; }
#endif

PetscErrorCode shell_mult(Mat mat, Vec x, Vec y) {
  return petsc_guard(comm_of(mat), [&] {
    Operator& op = *context_of(mat).op;
    if (!multiply_on_device(op, x, y)) op.multiply(ReadSpan(x), WriteSpan(y));
    petsc_check(PetscLogFlops(2.0 * static_cast<double>(op.matrix().blocks.nnz())));
  });
}

PetscErrorCode shell_mult_transpose(Mat mat, Vec x, Vec y) {
  return petsc_guard(comm_of(mat), [&] {
    Operator& op = *context_of(mat).op;
    op.multiply_transpose(ReadSpan(x), WriteSpan(y));
    petsc_check(PetscLogFlops(2.0 * static_cast<double>(op.matrix().blocks.nnz())));
  });
}

PetscErrorCode shell_get_diagonal(Mat mat, Vec d) {
  return petsc_guard(comm_of(mat), [&] { context_of(mat).op->matrix().diagonal(WriteSpan(d)); });
}

PetscErrorCode shell_destroy(Mat mat) {
  return petsc_guard(comm_of(mat), [&] { delete &context_of(mat); });
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
  context.release();  // shell_destroy's from here on
  petsc_check(MatShellSetOperation(shell, MATOP_DESTROY, petsc_operation(shell_destroy)));
  // Nobody scales or shifts a Trireme operator; unmanaged, PETSc calls our functions directly. This
  // comes before the operations: see MatShellSetManageScalingShifts.
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

std::shared_ptr<Operator> shell_operator(Mat mat) {
  PetscOperation mark = nullptr;
  petsc_check(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(mat), kMark, &mark));
  return mark ? context_of(mat).op : nullptr;
}

}  // namespace trireme
