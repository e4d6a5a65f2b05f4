// SPDX-License-Identifier: BSD-3-Clause
// One step of coarsening by smoothed aggregation of a level that lies on several ranks.
//
// The aggregates are those that one rank would find: an aggregate may have nodes of any ranks, and
// belongs to the rank of its root. The prolongator is smoothed with whole rows. Coarse matrices
// therefore differ from those of one rank by rounding only, and so does the convergence.
//
// Aggregates within the ranks were the alternative. They lead to as few iterations if the
// prolongator is smoothed with whole rows, but the coarse levels of matrices that are numbered at
// random become too large then (docs/performance/multigrid.md).
#pragma once

#include "multigrid/near_nullspace.hpp"
#include "multigrid/ranks/coarse_columns.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/set_up/coarsen.hpp"

namespace trireme::multigrid {

// In the result, `aggregate_of_node` and the tentative prolongator are by node and row of this rank
// and behind them of the ghosts. Aggregates and columns of P are numbered as CoarseColumns says.
struct RankCoarsening {
  Coarsening coarsening;
  CoarseColumns columns;
};

// `comm` has the ranks of `a`. The sizes have been checked (check_sizes()). Throws the errors of
// coarsen() on every rank. Collective.
RankCoarsening coarsen(MPI_Comm comm, const ExtendedRows& a, const NearNullspace& modes,
                       const CoarsenRules& rules);

// thin() of coarsen.hpp. Collective.
bool thin(MPI_Comm comm, Coarsening& coarsening, const ExtendedRows& a, double part);

// As renew() of a Coarsening, for the present values of `a`. Collective.
void renew(MPI_Comm comm, Coarsening& coarsening, const ExtendedRows& a);

}  // namespace trireme::multigrid
