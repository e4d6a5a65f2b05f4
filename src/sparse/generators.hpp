// SPDX-License-Identifier: BSD-3-Clause
// Model problems that are made from a few numbers.
//
// Every random number is a hash of (seed, row, position), so that any range of rows can be made in
// parallel and on its own, and a matrix is the same on any number of ranks. Columns ascend and have
// no duplicates. "Random values" are uniform in (-1, 1).
//
//   poisson2d n            5-point stencil on n x n; values 4, -1
//   poisson3d n            7-point stencil on n^3; values 6, -1
//   poisson27 n            27-point stencil on n^3; values 26, -1
//   elasticity3d n         linear elasticity on n^3 free nodes, 3 unknowns per node
//   elasticity3d-shuffled  n as above, with the nodes shuffled within windows of 4096
//   convection3d n         7-point upwind convection-diffusion on n^3, nonsymmetric
//   random n k             exactly k uniform columns in each of n rows, random values
//   rmat n k               R-MAT: 2^n rows, k 2^n edges, quadrants .57 .19 .19 .05, random values
//   circuit n              short rows, 16 dense columns and 16 dense rows, random values
//   short n                1 to 4 nonzeros per row near the diagonal, random values
//   web n                  power-law row lengths, half of the columns local, random values
//
// The following families have variable coefficients and are symmetric; all but saddle are positive
// definite.
//
//   mesh2d n               triangulation of n x n nodes that are numbered at random
//   lognormal n            log-normal row lengths, 14 in the mean, 4/5 of the columns near
//   graph n                Laplacian of a random graph with power-law degrees, exponent 2.2
//   blocks n               dense 5 x 5 blocks on the 7-point stencil of n^3 nodes
//   highorder n            biquadratic elements, n x n: rows of 9, 15 and 25
//   bands n k              k columns on either side of the diagonal
//   arrow n                4 columns on either side of the diagonal; the last 4 rows and columns
//                          are full
//   diffusion3d n          7-point finite volumes on n^3 cells, coefficients exp(2 g) with normal g
//   saddle n               mixed elements for Darcy flow through n x n cells: [K B^T; B 0]
//
// The following families are for products. denserows is square but not symmetric, and incidence is
// rectangular.
//
//   denserows n            9 columns around the diagonal, random values; 5 rows of n/8 random
//                          columns
//   incidence n            edges by nodes of the grid of n^3 nodes; values -1 and 1
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"
#include "sparse/csr.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {

struct GenerateSpec {
  std::string kind;     // one of generator_names()
  std::int64_t n = 0;   // points, elements or cells per side, rows, or the scale (rmat)
  std::int64_t k = 16;  // nonzeros per row (random), edge factor (rmat) or columns on either side
                        // of the diagonal (bands); the others ignore it
  std::uint64_t seed = 1;  // seed of all random numbers; the stencils ignore it
};

struct GlobalShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

std::span<const std::string_view> generator_names();

// The following functions throw Error{usage} for an unknown kind, with the known kinds and
// the most similar one, and for an n or k that the kind does not take. Rows are the half-open range
// [first_row, last_row).
GlobalShape generator_shape(const GenerateSpec& spec);
Array<std::int32_t> generator_row_lengths(const GenerateSpec& spec, std::int64_t first_row,
                                          std::int64_t last_row);

// The unknowns per node: rows [n * this, (n + 1) * this) are the unknowns of node n. It is 3 for
// both kinds of elasticity, whose nodes have coordinates, and 1 for the other kinds.
std::int64_t generator_unknowns_per_node(const GenerateSpec& spec);
// The coordinates x, y and z, one array of each, of the nodes [first_node, last_node) of a kind
// whose nodes have coordinates; for other kinds no array.
std::vector<Array<double>> generator_coordinates(const GenerateSpec& spec, std::int64_t first_node,
                                                 std::int64_t last_node);

// Makes the rows [first_row, last_row). global_nnz of the result counts only these rows; where they
// are not all rows, the caller sums it over the ranks. The rows are cut into blocks of at most
// `most_of_block` nonzeros. Throws Error{resource} for a row of more.
RowSlab generate(const GenerateSpec& spec, std::int64_t first_row, std::int64_t last_row,
                 std::int64_t most_of_block = kNonzerosOfBlock);

}  // namespace trireme
