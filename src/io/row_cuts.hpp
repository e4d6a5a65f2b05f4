// SPDX-License-Identifier: BSD-3-Clause
// Where to cut a matrix into row blocks of equal work, when no rank sees all of its row pointers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace trireme {

// The even split from which each rank starts before it knows the nonzeros: rows (or columns)
// [even_share(n, P, r), even_share(n, P, r + 1)).
inline std::int64_t even_share(std::int64_t count, int parts, int part) {
  return count / parts * part + count % parts * part / parts;
}

// Gives the boundaries of split_by_nonzeros (sparse/partition.hpp) from a stream: a row weighs its
// nonzeros plus one, a cut is the row nearest to its equal share.
//
// Each rank reports the boundaries of its even share in ascending order, beginning with the start
// of the share; a cut is then known to exactly one rank.
class RowCuts {
 public:
  // Every cut is moved to the nearest multiple of `together`.
  RowCuts(std::int64_t rows, std::int64_t nnz, int parts, std::int64_t together = 1);

  // `nonzeros_before` lie before `row`.
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
  int part_ = 0;  // the cut that target_ belongs to
  std::int64_t target_ = 0;
  std::int64_t previous_ = -1;  // work before the boundary reported last
  std::vector<std::int64_t> starts_;
};

// The cuts when each rank knows the row lengths of its even share. Collective.
std::vector<std::int64_t> balanced_starts(MPI_Comm comm, std::int64_t rows,
                                          std::span<const std::int32_t> lengths,
                                          std::int64_t together = 1);

}  // namespace trireme
