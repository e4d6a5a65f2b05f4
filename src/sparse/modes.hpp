// SPDX-License-Identifier: BSD-3-Clause
// Vectors that a matrix maps to almost zero, for multigrid: this rank's rows of them.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace trireme {

// The slow part of the error of an iteration is made of such vectors, locally: constants for
// diffusion, rigid-body modes for elasticity. A multigrid prolongator therefore reproduces them.
struct Modes {
  Array<double> values;         // values[i * width + k] is mode k in local row i
  std::int32_t width = 0;       // 0: constants, one per unknown of a node
  std::int32_t block_size = 1;  // consecutive rows that are the unknowns of one node
};

}  // namespace trireme
