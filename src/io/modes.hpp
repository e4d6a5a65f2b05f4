// SPDX-License-Identifier: BSD-3-Clause
// The near-nullspace vectors of a system: where its source has them, and this rank's rows of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "config/case.hpp"
#include "io/system_source.hpp"
#include "sparse/modes.hpp"

namespace trireme {

struct ModesPlace {
  std::string coordinates;      // dataset; empty: none
  std::string near_nullspace;   // dataset; empty: none. At most one of both is named.
  std::int64_t block_size = 1;  // unknowns per node
  std::int64_t nodes = 0;       // that have coordinates
  std::int64_t dimension = 0;   // of the coordinates: 2 or 3
};

// Finds the datasets and checks their shapes, before any row is read. Throws Error{input} where the
// shapes do not fit the matrix, and where the file has both datasets and the spec does not choose.
// Collective.
ModesPlace find_modes(MPI_Comm comm, SystemSource& source, const ProblemSpec& spec);

// Reads these rows, which are whole nodes. From coordinates of as many dimensions as a node has
// unknowns the function makes rigid-body modes (sparse/rigid_body_modes.hpp), and leaves out what
// nodes on one line cannot do. From other coordinates it makes constants. The columns are
// orthonormal over all ranks. Throws Error{input} for numbers that are not finite, and for vectors
// of /near_nullspace that are zero or a combination of the vectors before them. Collective.
Modes read_modes(MPI_Comm comm, SystemSource& source, const ModesPlace& place,
                 const RowRange& rows);

// What `modes` are, in words: "6 rigid-body modes of 1000 nodes in /coordinates". Empty for one
// constant.
std::string describe(const ModesPlace& place, const Modes& modes);

}  // namespace trireme
