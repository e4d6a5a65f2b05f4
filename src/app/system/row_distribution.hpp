// SPDX-License-Identifier: BSD-3-Clause
// `distribution` of a case: whether the rows of a system go to other ranks, and their way there.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/shared_cache.hpp"
#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/redistribution.hpp"
#include "io/problem.hpp"
#include "petsc/graph_partition.hpp"
#include "report/distribution_outcome.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// What decides, beside the matrix.
struct DistributionRequest {
  std::optional<Distribution> distribution;  // empty: auto
  std::int64_t rows_together = 1;            // consecutive rows that stay on one rank
  std::int64_t expected_products = 0;        // of the whole case
  std::string why_so_many;                   // a clause of the report, for auto
  bool reproducible = true;
  std::uint64_t pattern = 0;  // the fingerprint of the matrix, by which the cache knows it
  std::string options;        // of PETSc that begin with mat_partitioning
  std::string_view partitioner = graph_partitioner();  // empty: PETSc was built with none
};

struct RowDistribution {
  std::shared_ptr<Redistribution> moved;  // null: the rows stay where they are
  DistributionOutcome outcome;            // `graph` and move_seconds are those of place_rows()
  bool products_decided = false;          // auto weighed the products ahead
};

// Decides on the distribution of the rows of `slab`, and partitions their graph where that is
// the decision. Nothing is moved. The rule of auto is in docs/running.md. Throws the same Error on
// every rank: usage for a rectangular matrix, resource where memory is missing. Collective.
RowDistribution choose_distribution(MPI_Comm comm, const RowSlab& slab,
                                    const std::vector<std::int64_t>& row_starts,
                                    const DistributionRequest& request, SharedCache& cache);

// Brings the matrix and the vectors of `problem` to their ranks, but for the modes, and notes in
// distribution.outcome what came of it. The matrix of `problem` moves into the result;
// problem.row_starts stay those of the file. Collective.
std::shared_ptr<DistributedMatrix> place_rows(MPI_Comm comm, Problem& problem,
                                              RowDistribution& distribution, bool keep_entries);

// The row of the file at each local row of the redistributed matrix. Collective.
Array<std::int32_t> callers_rows(MPI_Comm comm, const Redistribution& moved);

}  // namespace trireme
