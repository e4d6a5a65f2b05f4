// SPDX-License-Identifier: BSD-3-Clause
// What a caller asks of a multigrid hierarchy, with the defaults.
#pragma once

#include <cstdint>

#include "base/choices.hpp"

namespace trireme::multigrid {

using trireme::CycleKind;
using trireme::Smoother;

struct Options {
  Smoother smoother = Smoother::chebyshev;
  std::int32_t degree = 2;  // products of one smoothing, 1 to 8
  CycleKind cycle = CycleKind::v;
  // Of strong connections, relative to the strongest one of a node (strength.hpp). From 0 to below
  // 1.
  double threshold = 0.25;
  // False: plain aggregation, whose coarse matrices have fewer nonzeros and whose cycles converge
  // more slowly.
  bool smoothed_prolongator = true;
  // The most nonzeros of a coarse matrix, relative to those of the next finer one. A smoothed
  // prolongator that leads to more is thinned (thinning.hpp). At least 0.
  double fill = 0.7;
  std::int32_t aggressive_levels = 0;  // finest levels that are coarsened twice at once
  // Of the matrix values of all levels: FP32 by default, because a preconditioner need not be
  // exact. A level whose values leave the range of FP32 is stored in FP64.
  Precision precision = Precision::mixed;
  std::int32_t block_size = 1;          // consecutive rows that are the unknowns of one node
  std::int32_t max_levels = 20;         // the finest one counts
  std::int32_t coarsest_rows = 400;     // a level of at most so many rows is inverted
  std::int64_t replicated_rows = 4000;  // a level of at most so many rows lies whole on every rank
  // True: replicated_rows is for one unknown per node, and rows of nodes with b unknowns, which are
  // b times as long, count b times.
  bool counts_unknowns = false;
  bool operator==(const Options&) const = default;
};

}  // namespace trireme::multigrid
