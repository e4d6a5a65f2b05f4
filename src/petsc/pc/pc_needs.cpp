// SPDX-License-Identifier: BSD-3-Clause
// The needs by the type of the PC.
#include "petsc/pc/pc_needs.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "distributed/device_blocks.hpp"
#include "distributed/matrix_look.hpp"
#include "kernels/csr_scans.hpp"
#include "parallel/collective.hpp"
#include "petsc/pc/petsc_preconditioners.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

bool divides_by_the_diagonal(PC pc) {
  const PetscPreconditioner* const petscs = petsc_preconditioner(preconditioner_of(pc));
  return is_diagonal_jacobi(pc) || (petscs && petscs->divides);
}

}  // namespace

PC pc_of(KSP ksp) {
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  return pc;
}

bool needs_entries(PC pc) {
  const std::string type = type_of(pc);
  if (type == PCJACOBI) return !is_diagonal_jacobi(pc);
  const auto* const own = preconditioner_of(pc).own();
  const bool by_the_loop = own && type == own->name.pc_type;
  return type != PCSHELL && !by_the_loop;
}

bool inverts_the_diagonal(PC pc) {
  if (!is_diagonal_jacobi(pc)) return false;
  PetscBool magnitudes = PETSC_FALSE, zero_is_one = PETSC_TRUE;
  petsc_check(PCJacobiGetUseAbs(pc, &magnitudes));
  petsc_check(PCJacobiGetFixDiagonal(pc, &zero_is_one));
  return !magnitudes && zero_is_one;
}

bool blocks_belong_to_ranks(PC pc) {
  const std::string type = type_of(pc);
  if (type != PCBJACOBI && type != PCASM) return false;
  PetscInt count = 0;
  KSP* blocks = nullptr;
  const auto ask = type == PCBJACOBI ? PCBJacobiGetSubKSP : PCASMGetSubKSP;
  petsc_check(ask(pc, &count, nullptr, &blocks));
  double ranks = 1;
  for (PetscInt k = 0; k < count; ++k) ranks = std::max<double>(ranks, size_of(comm_of(blocks[k])));
  return max_over_ranks(comm_of(pc), ranks) == 1;
}

void require_nonzero_diagonal(const DistributedMatrix& matrix, PC pc) {
  if (!divides_by_the_diagonal(pc)) return;
  if (const MatrixLook* const look = known_look(matrix); look && look->zero_diagonal == 0) return;
  int suspect = 1;
  collectively(matrix.comm, [&] {
    if (const DeviceBlocks* blocks = DeviceBlocks::find(matrix); blocks && blocks->has_entries())
      suspect = invert_diagonal(blocks->local().blocks(), blocks->stream()).has_zero ? 1 : 0;
  });
  MPI_Allreduce(MPI_IN_PLACE, &suspect, 1, MPI_INT, MPI_MAX, matrix.comm);
  if (suspect == 0) return;
  Array<double> d(matrix.local_rows());
  matrix.diagonal(d);
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < d.size(); ++i)
    if (d[i] == 0) row = std::min(row, matrix.callers_row(static_cast<std::int64_t>(i)));
  MPI_Allreduce(MPI_IN_PLACE, &row, 1, MPI_INT64_T, MPI_MIN, matrix.comm);
  collectively(matrix.comm, [&] {
    if (row != std::numeric_limits<std::int64_t>::max())
      fail(ExitCode::input,
           "row {} (from 0) has a zero on the diagonal, by which {} would divide; use "
           "method auto with preconditioner auto, or preconditioner none (method minres where the "
           "matrix is symmetric, else "
           "bicgstab)",
           row, type_of(pc));
  });
}

}  // namespace trireme
