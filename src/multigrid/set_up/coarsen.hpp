// SPDX-License-Identifier: BSD-3-Clause
// One step of coarsening by smoothed aggregation: from the rows of a level to its prolongator.
//
// The aggregates are those that one rank would find: an aggregate may have nodes of any ranks, and
// belongs to the rank of its root. The prolongator is smoothed with whole rows. Coarse matrices
// therefore differ from those of one rank by rounding only, and so does the convergence.
//
// Aggregates within the ranks were the alternative. They lead to as few iterations if the
// prolongator is smoothed with whole rows, but the coarse levels of matrices that are numbered at
// random become too large then (docs/performance/multigrid.md).
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "multigrid/level_matrix.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/ranks/coarse_columns.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/set_up/aggregates.hpp"
#include "multigrid/set_up/prolongator.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

struct CoarsenRules {
  double threshold = 0;         // of strong connections, from 0 to below 1; see strength.hpp
  bool smoothed = true;         // false: P is the tentative prolongator
  bool aggressive = false;      // aggregates of aggregates
  std::int32_t block_size = 1;  // rows per node, 1 to 64
};

struct CoarsenSeconds {
  double strength = 0, aggregation = 0, prolongator = 0;
};

// What a level keeps of its coarsening. Aggregates and columns of P are numbered as CoarseColumns
// says.
struct Coarsening {
  // By node of this rank and behind them of the ghosts; -1: isolated, so that its rows of P are
  // empty. The tentative prolongator is by row of these.
  Array<std::int32_t> aggregate_of_node;
  std::int32_t aggregates = 0;  // that columns of P lead to
  CoarseColumns columns;
  CsrMatrix<double> p;  // rows of this rank x (aggregates * coarse_block_size)
  std::int32_t coarse_block_size = 1;
  NearNullspace coarse_modes;
  double spectral_radius = 0;  // of D^-1 A_F (see prolongator.hpp); 0 if not smoothed
  bool unfiltered = false;     // A_F is A, so that a smoother can take this radius
  double thinned = 0;          // the part that thin() was last called with; 0: never
  CoarsenSeconds seconds;      // of coarsen() or the last thin() or renew()

  CoarsenRules rules;
  Tentative tentative;  // without its coarse modes
  Array<std::uint8_t> strong;
};

// `modes` has the rows of `a`, or width 0. Throws the same Error on every rank: usage for a block
// size that does not divide the rows or is out of range, input for a zero diagonal entry or a
// number that is not finite, resource for a prolongator of more than 2^31-1 nonzeros. Collective.
Coarsening coarsen(const ExtendedRows& a, const NearNullspace& modes, const CoarsenRules& rules);

// Throws Error{usage} and Error{internal} as coarsen() does. Not collective.
void check_sizes(const LocalRows& a, const NearNullspace& modes, const CoarsenRules& rules);

// Leaves the runs of P out whose norm is below `part` times that of the largest run of their row
// (thinning.hpp): the entries that lead to them become weak, and P is computed again. Returns
// false, and changes nothing, where there are none. Collective.
bool thin(Coarsening& coarsening, const ExtendedRows& a, double part);

// Computes the spectral radius and the values of P again, for a matrix of the same pattern. The
// aggregates, the tentative prolongator and the choice of strong entries stay. Throws Error{input}
// as coarsen() does. Collective.
void renew(Coarsening& coarsening, const ExtendedRows& a);

}  // namespace trireme::multigrid
