// SPDX-License-Identifier: BSD-3-Clause
// The distributed levels of a hierarchy, taken apart for the GPU of a rank: matrices whose vectors
// lie on the rank, and few rows that join them with the vectors of other ranks.
//
//   A x      = local block x + ghost block g           g: ghosts of x
//   x += P c = x + own columns of P c + others g       g: ghosts of c
//   P^T r    = own rows of P^T r + terms               terms: other ranks' ghost rows of P^T r
//
// The coarsest distributed level may be followed by a level that every rank has as a whole. All
// ranks then exchange all rows of P^T r, and each rank adds them up in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "multigrid/cycle/level_parts.hpp"
#include "multigrid/ranks/rank_parts.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// Some rows of a sparse matrix. Entries of row k, which is row rows[k] of a vector, are those from
// row_ptr[k] on.
struct BorderRows {
  Array<std::int32_t> rows, row_ptr{0}, columns;
  Array<double> values;
};

// The rows of `block` that have entries. With `single`, values are rounded to FP32.
BorderRows border_rows(const CsrView<double>& block, bool single);

// The entries of `m` in columns from `first` on, which are numbered from 0. Row i of `m` is row
// rows[i] of a vector, or row i where `rows` is empty.
BorderRows border_columns(const CsrView<double>& m, std::span<const std::int32_t> rows,
                          std::int64_t first, bool single);
// The rows of P^T from `first` on, numbered from 0, also those without entries.
BorderRows border_tail(const CsrView<double>& m, std::int64_t first, bool single);
// Adds what has come to the rows of a vector: ghost k of the halo back is for row send_rows[k].
BorderRows received_terms(const Array<std::int32_t>& send_rows);

// How every rank gets a whole vector as the sums of terms that lie on the ranks.
struct Gathering {
  HaloPlan plan;           // takes all terms of a rank to all other ranks
  std::int32_t terms = 0;  // of this rank
  // Row i of the vector is the sum of the terms sources[row_ptr[i]] and on. A source below `terms`
  // is a term of this rank. Others are terms + the place among those that have come.
  Array<std::int32_t> row_ptr{0}, sources;
};

// Rank r has a term for each of the rows starts[r] .. starts[r+1]-1 and behind them one for each of
// its `ghosts`. The terms of a row are added in the order: that of its owner, and then those of the
// other ranks from rank 0 on. Collective.
Gathering gathering(MPI_Comm comm, const std::vector<std::int64_t>& starts,
                    const Array<std::int32_t>& ghosts);

// A distributed level. Views refer to the hierarchy and to this object.
struct RankLevel {
  HostLevelParts parts;
  BorderRows a;  // columns are ghosts
  HaloPlan halo;
  // The way to the next coarser level, where there is one.
  bool to_whole = false;  // that level lies whole on every rank
  CsrMatrix<double> own_p;
  BorderRows p;         // columns are ghosts of a coarse vector
  HaloPlan p_halo;      // brings them
  BorderRows others;    // ghost rows of P^T; rows are numbered from 0
  HaloPlan back;        // takes their products to the owners of the rows
  BorderRows received;  // adds what has come to the own rows of a coarse vector
  Gathering gathering;  // of the rows of P^T, where to_whole
};

// Collective.
std::vector<RankLevel> rank_levels(const HostRankParts& parts);

}  // namespace trireme::multigrid
