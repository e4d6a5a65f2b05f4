// SPDX-License-Identifier: BSD-3-Clause
// What the transfer from a level to the next coarser one has beside its prolongator where the level
// lies on several ranks.
#pragma once

#include <mpi.h>

#include <optional>
#include <utility>

#include "multigrid/ranks/coarse_columns.hpp"
#include "multigrid/ranks/coarse_vector.hpp"
#include "multigrid/ranks/coarsen_on_ranks.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/ranks/product_on_ranks.hpp"

namespace trireme::multigrid {

struct AcrossRanks {
  // Without rows and product, the level was read and has not been renewed.
  std::optional<ExtendedRows> rows;
  CoarseColumns columns;
  std::optional<ProductOnRanks> product;
  std::optional<CoarseVector> vector;

  AcrossRanks() = default;
  // Collective.
  AcrossRanks(MPI_Comm comm, const DistributedMatrix& matrix, std::int32_t block_size)
      : rows(std::in_place, comm, matrix, block_size) {}
  AcrossRanks(const AcrossRanks&) = delete;
  AcrossRanks& operator=(const AcrossRanks&) = delete;
};

}  // namespace trireme::multigrid
