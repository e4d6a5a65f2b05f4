// SPDX-License-Identifier: BSD-3-Clause
// The graph of a matrix whose rows lie on the ranks, for programs that partition graphs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// A vertex stands for `rows_per_vertex` consecutive rows of the whole matrix, the last vertex for
// what is left. Two vertices have an edge where A or A^T has an entry in the rows of one and the
// columns of the other. No vertex has an edge to itself, and no edge is stored twice in one list.
struct RowGraph {
  std::int64_t rows_per_vertex = 1;
  std::vector<std::int64_t> vertex_starts;  // ranks + 1
  Array<std::int32_t> offsets;              // of this rank's vertices, one more than these
  Array<std::int32_t> neighbours;           // global numbers of vertices, ascending in each list
  Array<std::int32_t> weights;              // nonzeros of the rows of each vertex; at least 1

  Array<std::int32_t> edge_weights;  // by neighbour, where has_edge_weights
  bool has_edge_weights = false;     // else all edges weigh 1

  std::int64_t vertices() const { return static_cast<std::int64_t>(weights.size()); }
};

// `row_starts` are the cuts of the ranks; all but the last one are multiples of `rows_per_vertex`.
// Where the structure of A is not symmetric, which a sum over the entries reveals, each rank sends
// the mirrors of its entries to the owners of their rows. Throws Error{resource} on every rank
// where a rank would have more than 2^31-1 edges. Collective.
RowGraph row_graph(MPI_Comm comm, const RowSlab& slab, std::span<const std::int64_t> row_starts,
                   std::int64_t rows_per_vertex = 1);

}  // namespace trireme
