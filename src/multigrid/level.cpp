// SPDX-License-Identifier: BSD-3-Clause
// Views of a level's rows, and the kernels of its transfers.
#include "multigrid/level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/registry.hpp"

namespace trireme::multigrid {

LocalRows local_rows(const DistributedMatrix& matrix) {
  return {.local = matrix.blocks.local.view(),
          .ghost = matrix.blocks.ghost.view(),
          .ghost_columns = matrix.blocks.ghost_columns,
          .first_row = matrix.first_row()};
}

std::unique_ptr<HostKernel<double>> transfer_kernel(const CsrMatrix<double>& matrix,
                                                    Precision precision) {
  const auto too_large = [](double value) {
    return std::abs(value) > double{std::numeric_limits<float>::max()};
  };
  if (precision == Precision::full ||
      std::any_of(matrix.values.begin(), matrix.values.end(), too_large))
    return build_host_kernel<double>("csr", matrix.view());
  return build_mixed_host_kernel("csr", matrix.view());
}

}  // namespace trireme::multigrid
