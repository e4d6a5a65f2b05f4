// SPDX-License-Identifier: BSD-3-Clause
// Views of a matrix.
#include "multigrid/level_matrix.hpp"

#include "distributed/distributed_matrix.hpp"

namespace trireme::multigrid {

LocalRows local_rows(const DistributedMatrix& matrix) {
  return {.local = matrix.blocks.local.view(),
          .first_row = matrix.first_row(),
          .callers_rows = matrix.callers_rows};
}

}  // namespace trireme::multigrid
