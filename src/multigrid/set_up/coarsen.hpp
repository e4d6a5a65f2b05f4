// SPDX-License-Identifier: BSD-3-Clause
// One step of coarsening by smoothed aggregation: from the rows of a level to its prolongator.
// coarsen() and renew() are for a level that lies whole on this rank; coarsen_on_ranks.hpp has
// those for several.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "multigrid/level_matrix.hpp"
#include "multigrid/near_nullspace.hpp"
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

// What a level keeps of its coarsening. RankCoarsening says what differs on several ranks.
struct Coarsening {
  Array<std::int32_t> aggregate_of_node;  // -1: isolated, so that its rows of P are empty
  std::int32_t aggregates = 0;
  CsrMatrix<double> p;  // local rows x (aggregates * coarse_block_size)
  std::int32_t coarse_block_size = 1;
  NearNullspace coarse_modes;
  double spectral_radius = 0;  // of D^-1 A_F (see prolongator.hpp); 0 if not smoothed
  bool unfiltered = false;     // A_F is A, so that a smoother can take this radius
  double thinned = 0;          // the part that thin() was last called with; 0: never
  CoarsenSeconds seconds;      // of coarsen() or the last renew()

  CoarsenRules rules;
  Tentative tentative;  // without its coarse modes
  Array<std::uint8_t> strong;
};

// `modes` has a.local.rows * modes.width values, or width 0. Throws Error{usage} for a block size
// that does not divide the rows or is out of range, Error{input} for a zero diagonal entry or a
// number that is not finite, Error{resource} for a prolongator of more than 2^31-1 nonzeros.
Coarsening coarsen(const LocalRows& a, const NearNullspace& modes, const CoarsenRules& rules);

// Throws Error{usage} and Error{internal} as coarsen() does.
void check_sizes(const LocalRows& a, const NearNullspace& modes, const CoarsenRules& rules);

// Leaves the runs of P out whose norm is below `part` times that of the largest run of their row
// (thinning.hpp), and computes P again. Returns false, and changes nothing, where there are none.
bool thin(Coarsening& coarsening, const LocalRows& a, double part);
// Makes the entries weak that lead to such runs, and returns how many there were.
double drop_small_runs(Coarsening& coarsening, const LocalRows& a, double part);

// Computes the spectral radius and the values of P again, for a matrix of the same pattern. The
// aggregates, the tentative prolongator and the choice of strong entries stay. Throws Error{input}
// as coarsen() does.
void renew(Coarsening& coarsening, const LocalRows& a);

// How the prolongator is smoothed.
struct ProlongatorSmoothing {
  Array<double> diagonal;  // of A_F
  double weight = 0;
};
// Estimates the spectral radius of a coarsening that lacks P. On several ranks, `ghosts` is that of
// ExtendedRows. Collective.
ProlongatorSmoothing prolongator_smoothing(Coarsening& coarsening, const LocalRows& a,
                                           const NodeExchange& ghosts = {});
ProlongatorRules prolongator_rules(const Coarsening& coarsening, const LocalRows& a,
                                   const ProlongatorSmoothing& smoothing);

}  // namespace trireme::multigrid
