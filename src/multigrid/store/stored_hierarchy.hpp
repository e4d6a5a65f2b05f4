// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy as a rank keeps it for a later run of the same matrix and options.
//
// Kept is what takes long to find: aggregates, prolongators, coarse matrices, and the spectral
// radii of the smoothers. P^T, the layouts of the products, the halos, the diagonals and the dense
// inverse are made again, since they take less time than reading them, or hardly more
// (docs/performance/multigrid.md). Patterns that only new values need are made when these come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "multigrid/level.hpp"
#include "multigrid/options.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/store/packed_bytes.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

struct StoredTransfer {
  Coarsening coarsening;                 // without coarse modes
  std::vector<std::int64_t> row_starts;  // of the coarse matrix
  Array<std::int32_t> ghosts;            // of CoarseColumns, where the level lies on several ranks
  CsrMatrix<double> coarse;              // this rank's rows of the coarse matrix, global columns
};

struct StoredLevel {
  double spectral_radius = 0;              // of SmootherNumbers
  std::optional<StoredTransfer> transfer;  // none on the coarsest level
};

struct StoredHierarchy {
  std::int64_t build = 0;     // the same number on all ranks of a run
  double set_up_seconds = 0;  // of building it
  // Empty: reading was slower than building when it was tried.
  std::vector<StoredLevel> levels;
  bool symmetric = true;
  std::string remark;
};

// Whether a level of several ranks, whose nodes have so many unknowns, lies whole on each of them.
bool lies_whole(std::int64_t global_rows, std::int64_t node_size, const Options& options);

// Writes a transfer. `coarse` has this rank's rows of the coarse matrix, with global columns.
void write(PackedWriter& writer, const Transfer& transfer, const CsrView<double>& coarse);

// Reads what Hierarchy::stored() wrote on this rank, and checks every size, offset and column.
// Throws Error{input}, whose text is a clause without a subject, for bytes that are no hierarchy of
// the matrix.
StoredHierarchy read_hierarchy(std::span<const std::byte> bytes, const DistributedMatrix& matrix,
                               const Options& options);

// The bytes of a hierarchy without levels.
Array<std::byte> not_worth_reading(double set_up_seconds);

}  // namespace trireme::multigrid
