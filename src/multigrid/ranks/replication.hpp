// SPDX-License-Identifier: BSD-3-Clause
// A small level that lies whole on every rank, so that all ranks do the same work on it and a cycle
// exchanges nothing below it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "multigrid/near_nullspace.hpp"

namespace trireme::multigrid {

class Replication {
 public:
  // Of vectors whose part row_starts[r] .. row_starts[r+1] lies on rank r. `comm` must outlive the
  // object.
  Replication(MPI_Comm comm, std::span<const std::int64_t> row_starts);

  // This rank's part of a whole vector.
  template <class T>
  std::span<T> part(std::span<T> whole) const {
    return whole.subspan(first_, count_);
  }
  // Completes `whole`, of which part() is set. Collective.
  void gather(std::span<double> whole) const;
  // The whole matrix on this rank alone (MPI_COMM_SELF). Collective.
  std::shared_ptr<DistributedMatrix> whole(const DistributedMatrix& matrix) const;
  // The whole of a matrix of which each rank has its rows, with global columns. Collective.
  CsrMatrix<double> whole(const CsrMatrix<double>& rows) const;
  // Gives the present values of the distributed matrix to the whole one. Collective.
  void renew(const DistributedMatrix& matrix, DistributedMatrix& whole) const;
  NearNullspace whole(const NearNullspace& modes) const;  // Collective.

 private:
  CsrMatrix<double> gather_rows(const DistributedMatrix& matrix) const;
  CsrMatrix<double> gather_rows(const Array<std::int32_t>& own_lengths,
                                const Array<std::int32_t>& own_columns,
                                const Array<double>& own_values) const;

  MPI_Comm comm_;
  std::vector<int> counts_, starts_;
  std::int64_t first_ = 0, count_ = 0, rows_ = 0;
};

}  // namespace trireme::multigrid
