// SPDX-License-Identifier: BSD-3-Clause
// Access to PETSc's arrays around a product.
#include "petsc/vec_product.hpp"

#include "distributed/cuda_operator.hpp"

namespace trireme {
namespace {

std::size_t local_size(Vec vec) {
  PetscInt size = 0;
  petsc_check(VecGetLocalSize(vec, &size));
  return static_cast<std::size_t>(size);
}

#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
// Multiplies where PETSc keeps both vectors on the device; returns false where it does not.
bool multiply_on_device(Operator& op, Vec x, Vec y, ProductOf product) {
  auto* cuda = dynamic_cast<CudaOperator*>(&op);
  if (!cuda) return false;
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscMemType from_type, to_type;
  petsc_check(VecGetArrayReadAndMemType(x, &from, &from_type));
  petsc_check(VecGetArrayWriteAndMemType(y, &to, &to_type));
  const bool on_device = PetscMemTypeDevice(from_type) && PetscMemTypeDevice(to_type);
  if (on_device) {
    const DeviceSpan<const double> device_x(from, local_size(x));
    const DeviceSpan<double> device_y(to, local_size(y));
    if (op.inexact() && product == ProductOf::exact_matrix)
      cuda->queue_exact_product(device_x, device_y, petsc_stream());
    else
      cuda->multiply(device_x, device_y, petsc_stream());
  }
  petsc_check(VecRestoreArrayReadAndMemType(x, &from));
  petsc_check(VecRestoreArrayWriteAndMemType(y, &to));
  return on_device;
}
#else
bool multiply_on_device(Operator&, Vec, Vec, ProductOf) { return false; }
#endif

}  // namespace

ReadSpan::ReadSpan(Vec vec) : vec_(vec), size_(local_size(vec)) {
  petsc_check(VecGetArrayRead(vec, &data_));
}
ReadSpan::~ReadSpan() { static_cast<void>(VecRestoreArrayRead(vec_, &data_)); }

WriteSpan::WriteSpan(Vec vec) : vec_(vec), size_(local_size(vec)) {
  petsc_check(VecGetArrayWrite(vec, &data_));
}
WriteSpan::~WriteSpan() { static_cast<void>(VecRestoreArrayWrite(vec_, &data_)); }

void multiply(Operator& op, Vec x, Vec y, ProductOf product) {
  if (!multiply_on_device(op, x, y, product)) {
    if (op.inexact() && product == ProductOf::exact_matrix)
      op.multiply_exactly(ReadSpan(x).span(), WriteSpan(y).span());
    else
      op.multiply(ReadSpan(x).span(), WriteSpan(y).span());
  }
  petsc_check(PetscLogFlops(2.0 * static_cast<double>(op.matrix().blocks.nnz())));
}

}  // namespace trireme
