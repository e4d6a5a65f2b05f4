// SPDX-License-Identifier: BSD-3-Clause
// The rows of a rank as one matrix, whose columns are those of the rank and behind them those of
// the ghost nodes. The set-up on several ranks reads a level in this form.
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
// unknowns of it are columns, also those that no entry names.
class ExtendedRows {
 public:
  // Takes pattern and values. `comm` has the ranks of the matrix. Both must outlive the object.
  // Collective.
  ExtendedRows(MPI_Comm comm, const DistributedMatrix& matrix, std::int32_t block_size);

  // Takes the present values of the matrix. forget_values() frees their memory until then.
  void renew(const DistributedMatrix& matrix);
  void forget_values() { Array<double>().swap(rows_.values); }

  LocalRows view() const { return {rows_.view(), first_row_, callers_rows_}; }
  NodeExchange exchange() const { return {comm_, nodes_, rows_.rows / block_size_}; }
  const HaloPlan& halo_of_nodes() const { return nodes_; }
  const HaloPlan& halo_of_columns() const { return columns_; }
  const std::vector<std::int64_t>& node_starts() const { return node_starts_; }
  const Array<std::int32_t>& ghost_nodes() const { return ghost_nodes_; }  // global, ascending
  std::int64_t bytes() const;

 private:
  MPI_Comm comm_;
  std::int32_t block_size_;
  std::int64_t first_row_;
  std::span<const std::int32_t> callers_rows_;
  CsrMatrix<double> rows_;
  Array<std::int32_t> ghost_nodes_;
  std::vector<std::int64_t> node_starts_;  // by rank
  HaloPlan nodes_, columns_;
};

}  // namespace trireme::multigrid
