// SPDX-License-Identifier: BSD-3-Clause
// Block sizes from the options and from the pattern.
#include "petsc/mat/block_size.hpp"

#include <vector>

#include "parallel/collective.hpp"
#include "sparse/row_groups.hpp"

namespace trireme {

PetscInt block_size_option() {
  PetscInt size = 1;
  petsc_check(PetscOptionsGetInt(nullptr, nullptr, "-mat_block_size", &size, nullptr));
  if (size < 1) fail(ExitCode::usage, "mat_block_size is {}; it must be 1 or more", size);
  return size;
}

void set_block_size_from_options(Mat mat, const DistributedMatrix& matrix) {
  const PetscInt size = block_size_option();
  if (size == 1) return;
  collectively(matrix.comm, [&] {
    if (matrix.local_rows() % size != 0)
      fail(
          ExitCode::usage,
          "rank {} holds {} rows, which mat_block_size {} does not divide; vpbjacobi finds its row "
          "groups itself",
          rank_of(matrix.comm), matrix.local_rows(), size);
  });
  petsc_check(MatSetBlockSize(mat, size));
}

void set_row_groups(Mat mat, const DistributedMatrix& matrix) {
  matrix.require_32_bits();
  const std::vector<std::int32_t> starts =
      row_groups(matrix.blocks.local.view(), matrix.blocks.ghost.view(), 32);
  std::vector<PetscInt> sizes;
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) sizes.push_back(starts[k + 1] - starts[k]);
  petsc_check(MatSetVariableBlockSizes(mat, static_cast<PetscInt>(sizes.size()), sizes.data()));
}

}  // namespace trireme
