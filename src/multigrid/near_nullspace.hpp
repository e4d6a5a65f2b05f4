// SPDX-License-Identifier: BSD-3-Clause
// The vectors that a multigrid prolongator must reproduce.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace trireme::multigrid {

// Vectors that the matrix maps to almost zero: constants for a scalar elliptic problem, rigid-body
// modes for elasticity. Number k of local row i is values[i * width + k]. With width 0 they are
// constants, one per unknown of a block.
struct NearNullspace {
  Array<double> values;
  std::int32_t width = 0;
};

}  // namespace trireme::multigrid
