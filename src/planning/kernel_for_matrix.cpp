// SPDX-License-Identifier: BSD-3-Clause
// Gathers the traits of a distributed matrix.
#include "planning/kernel_for_matrix.hpp"

#include <algorithm>
#include <span>

#include "planning/access_profile.hpp"
#include "planning/row_patterns.hpp"
#include "sparse/exact.hpp"

namespace trireme {

namespace {

MatrixTraits traits_of(const DistributedMatrix& matrix, bool with_values) {
  const CsrMatrix<double>& local = matrix.blocks.local;
  const CsrMatrix<double>& ghost = matrix.blocks.ghost;
  std::int64_t longest = 0;
  const auto length = [](const CsrMatrix<double>& block, std::int64_t row) {
    return block.nnz() == 0 ? 0 : block.row_begin(row + 1) - block.row_begin(row);
  };
#pragma omp parallel for schedule(static) reduction(max : longest)
  for (std::int64_t row = 0; row < local.rows; ++row)
    longest = std::max(longest, length(local, row) + length(ghost, row));
  const bool exact =
      with_values && exact_in_float<double>(local.values) && exact_in_float<double>(ghost.values);
  const bool few_patterns = has_few_row_patterns(local.blocks().front().csr);
  std::int64_t max[] = {local.rows, local.nnz() + ghost.nnz(), longest, exact ? 0 : 1,
                        few_patterns ? 0 : 1};
  MPI_Allreduce(MPI_IN_PLACE, max, 5, MPI_INT64_T, MPI_MAX, matrix.comm);
  return {.rows = max[0],
          .nnz = max[1],
          .longest = max[2],
          .exact_in_float = max[3] == 0,
          .few_patterns = max[4] == 0};
}

}  // namespace

MatrixTraits traits_of(const DistributedMatrix& matrix) { return traits_of(matrix, true); }

MatrixTraits traits_for_cost_model(const DistributedMatrix& matrix, Device device) {
  MatrixTraits traits = traits_of(matrix, device == Device::cuda);
  const AccessProfile profile = access_profile(matrix.blocks.local);
  const auto nnz = static_cast<double>(std::max<std::int64_t>(1, matrix.blocks.nnz()));
  double largest[] = {profile.given, profile.clustered,
                      static_cast<double>(matrix.blocks.ghost.nnz()) / nnz};
  MPI_Allreduce(MPI_IN_PLACE, largest, 3, MPI_DOUBLE, MPI_MAX, matrix.comm);
  traits.sectors_per_nonzero = largest[0];
  traits.clustered_sectors = largest[1];
  traits.ghost_part = largest[2];
  return traits;
}

std::string_view choose_kernel_for(const DistributedMatrix& matrix, Device device,
                                   Precision precision) {
  const bool on_gpu = device == Device::cuda;  // on a CPU the rule looks at no trait
  return choose_kernel(device, on_gpu ? traits_of(matrix) : MatrixTraits{}, precision);
}

}  // namespace trireme
