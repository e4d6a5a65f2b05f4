// SPDX-License-Identifier: BSD-3-Clause
// The rows of a rank as one matrix, whose columns are those of the rank and behind them those of
// the ghost nodes. The set-up reads a level in this form.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "multigrid/level_matrix.hpp"
#include "multigrid/ranks/node_exchange.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// A ghost node is a node of another rank that an entry of this rank's rows names. All block_size
// unknowns of it are columns, also those that no entry names. The rows of a rank without ghosts are
// not copied.
class ExtendedRows {
 public:
  // Takes pattern and values. `comm` has the ranks of the matrix. Both must outlive the object.
  // Collective.
  ExtendedRows(MPI_Comm comm, const DistributedMatrix& matrix, std::int32_t block_size);
  // Rows that lie whole on this rank, which must outlive the object.
  ExtendedRows(const LocalRows& whole);  // NOLINT(google-explicit-constructor): a view of them

  // Takes the present values of the matrix. forget_values() frees their memory until then.
  void renew(const DistributedMatrix& matrix);
  void forget_values() { Array<double>().swap(rows_.values); }
  // Until unscale(), the values are those of X A X. `x` has a number per column.
  void scale(std::span<const double> x);
  void unscale() { Array<double>().swap(scaled_); }

  MPI_Comm comm() const { return comm_; }
  LocalRows view() const;
  NodeExchange exchange() const { return {comm_, nodes_, own_nodes_}; }
  const HaloPlan& halo_of_nodes() const { return nodes_; }
  const HaloPlan& halo_of_columns() const { return columns_; }
  const std::vector<std::int64_t>& row_starts() const { return row_starts_; }  // by rank
  const Array<std::int32_t>& ghost_nodes() const { return ghost_nodes_; }      // global, ascending
  std::int64_t bytes() const;

 private:
  MPI_Comm comm_;
  std::vector<std::int64_t> row_starts_;
  LocalRows whole_;         // the rows of this rank, without their ghost block
  CsrMatrix<double> rows_;  // with that; empty where there are no ghosts
  Array<double> scaled_;    // values of X A X; empty: those of A
  std::int64_t own_nodes_;
  Array<std::int32_t> ghost_nodes_;
  HaloPlan nodes_, columns_;
};

}  // namespace trireme::multigrid
