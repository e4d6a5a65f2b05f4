// SPDX-License-Identifier: BSD-3-Clause
// Rows of a sparse matrix that belong to the ghosts of a halo: their owners send them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

class GhostRows {
 public:
  GhostRows() = default;
  // Fetches the rows of `p` that the halo's ghosts name. Column j of `p` is the global column
  // global_columns[j]. `comm` must outlive the object. Collective.
  GhostRows(MPI_Comm comm, const HaloPlan& halo, const CsrView<double>& p,
            std::span<const std::int32_t> global_columns);

  // Fetches the values again, of a matrix of the same pattern. Collective.
  void renew(const CsrView<double>& p);
  void forget_values() { Array<double>().swap(rows_.values); }

  // One row per ghost; the entries of a row have the order that they have in `p`.
  const CsrMatrix<double>& rows() const { return rows_; }
  // The global column of each column of rows(), ascending.
  const Array<std::int32_t>& columns() const { return columns_; }
  std::int64_t bytes() const;

 private:
  template <class T, class Of>
  Array<T> packed(const CsrView<double>& p, const Of& of) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  Array<std::int32_t> send_rows_;                      // of the halo
  std::vector<HaloPlan::Neighbour> sends_, receives_;  // of entries
  Array<std::int32_t> offsets_;                        // of the packed rows, one more than the rows
  CsrMatrix<double> rows_;
  Array<std::int32_t> columns_;
};

}  // namespace trireme::multigrid
