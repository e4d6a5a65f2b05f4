// SPDX-License-Identifier: BSD-3-Clause
// Rigid-body modes: the displacements of the nodes of an elastic body that moves without a strain.
#pragma once

#include <span>
#include <vector>

#include "base/array.hpp"
#include "sparse/modes.hpp"

namespace trireme {

// A box that contains all nodes of all ranks.
struct Centred {
  std::vector<double> centre;  // of the box, one number per dimension
  double length = 1;           // by which coordinates are divided: half of the longest side
};

// The lowest and the highest coordinate of each dimension, of any rank's nodes, as a Centred.
// A body of one point has the length 1.
Centred centred(std::span<const double> low, std::span<const double> high);

// The modes of nodes whose unknowns are their displacements along the axes. `coordinates` has one
// array per dimension, 2 or 3, with one number per node. The columns are the translations along x,
// y (and z), and then the rotations: in the plane (-y, x); in space (0, -z, y), (z, 0, -x) and
// (-y, x, 0). The rotations are about `box.centre`, with lengths in units of `box.length`, so that
// no column is much longer than another one. The columns are not orthonormal: see
// orthonormal_columns.hpp.
Modes rigid_body_modes(std::span<const Array<double>> coordinates, const Centred& box);

}  // namespace trireme
