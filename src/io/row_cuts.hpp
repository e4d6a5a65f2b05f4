// SPDX-License-Identifier: BSD-3-Clause
// Cuts a matrix into row blocks of equal work where no rank has all row pointers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "sparse/partition.hpp"

namespace trireme {

// Finds the cuts of split_by_nonzeros() (sparse/partition.hpp) from a stream of rows. The work of a
// row is its number of nonzeros plus one, and a cut is at the row nearest to an equal share.
//
// Each rank reports the boundaries of its even share in ascending order, from the start of the
// share to its end. Exactly one rank then knows each cut.
class RowCuts {
 public:
  // Every cut is moved to the nearest multiple of `together`.
  RowCuts(std::int64_t rows, std::int64_t nnz, int parts, std::int64_t together = 1);

  // Reports that `nonzeros_before` nonzeros lie in the rows before `row`.
  void boundary(std::int64_t row, std::int64_t nonzeros_before) {
    const std::int64_t work = nonzeros_before + row;
    if (work >= target_) cut_at(row, work);
    previous_ = work;
  }

  // parts + 1 row starts, the same on every rank. Collective.
  std::vector<std::int64_t> agree(MPI_Comm comm) &&;

 private:
  void cut_at(std::int64_t row, std::int64_t work);
  void next_target();

  std::int64_t rows_ = 0;
  std::int64_t together_ = 1;
  std::int64_t total_ = 0;
  int parts_ = 1;
  int part_ = 0;  // the number of the cut that target_ belongs to
  std::int64_t target_ = 0;
  std::int64_t previous_ = -1;  // work before the last boundary that was reported
  std::vector<std::int64_t> starts_;
};

// The cuts where each rank knows the row lengths of its even share. Collective.
std::vector<std::int64_t> balanced_starts(MPI_Comm comm, std::int64_t rows,
                                          std::span<const std::int32_t> lengths,
                                          std::int64_t together = 1);

}  // namespace trireme
