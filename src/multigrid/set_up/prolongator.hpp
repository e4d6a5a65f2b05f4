// SPDX-License-Identifier: BSD-3-Clause
// The prolongator of smoothed aggregation (Vanek, Mandel and Brezina, Computing 56, 1996).
//
// The tentative prolongator T has one block of `width` columns per aggregate, which reproduces the
// near-nullspace on it: B = T B_coarse. Where the modes are constants, T has the entry 1 in the
// column of the row's unknown. For given modes, the block of an aggregate is the orthogonal factor
// of its rows of B (Gram-Schmidt, twice), and B_coarse the triangular one; a mode that depends on
// those before it on this aggregate gets a column of zeros.
//
// The smoothed one is P = (I - w D^-1 A_F) T with w = 4/3 / rho(D^-1 A_F). A_F is A, in which
// weak entries are added to the diagonal block of the row's node, to the column of their own
// unknown, so that A_F and A agree on the constants of each unknown. D is the diagonal of A_F. A
// row where it is below a tenth of that of A is not smoothed.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "multigrid/level_matrix.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/ranks/node_exchange.hpp"
#include "multigrid/set_up/aggregates.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// w times rho(D^-1 A_F).
inline constexpr double kProlongatorDamping = 4.0 / 3;

struct Tentative {
  // T's entry of row i in column j of its aggregate is values[i * width + j]. Empty for constants.
  Array<double> values;
  std::int32_t width = 1;       // columns per aggregate
  std::int32_t block_size = 1;  // rows per node
  NearNullspace coarse_modes;
};

// The values of this rank's rows, and the coarse modes of this rank's aggregates. They do not
// depend on the ranks: the owner of an aggregate gets its rows of the modes and factors them.
// Throws Error{input} on every rank for a mode that is not finite. Collective.
Tentative make_tentative(MPI_Comm comm, const Aggregates& aggregates, const NearNullspace& modes,
                         std::int32_t block_size);

// The rows with the mask of its strong entries (empty: all are strong).
struct FilteredMatrix {
  LocalRows a;
  std::span<const std::uint8_t> strong;
  std::int32_t block_size = 1;
};

// D by local row, infinity where the row is not smoothed.
Array<double> filtered_diagonal(const FilteredMatrix& a);

// Whether A_F is A, on all ranks. Collective.
bool is_unfiltered(const FilteredMatrix& f, const NodeExchange& ghosts = {});

// Estimates rho(D^-1 A_F) by the Lanczos method from a fixed random vector, for a symmetric matrix
// from below; no more than the largest row sum of |D^-1 A_F|. 0 where no row is smoothed. On
// several ranks, `ghosts` is that of ExtendedRows, and the result that of the whole matrix.
// Collective.
double filtered_spectral_radius(const FilteredMatrix& f, std::span<const double> diagonal,
                                const NodeExchange& ghosts = {});

// What the prolongator is made of. With weight 0, P = T.
struct ProlongatorRules {
  FilteredMatrix a;
  std::span<const double> diagonal;  // of A_F
  double weight = 0;                 // w
  std::span<const std::int32_t> aggregate_of_node;
  std::int32_t aggregates = 0;
  const Tentative* tentative = nullptr;
};

// Returns P. Row i has all columns of each aggregate to which strong entries of the row lead,
// ascending; the rows of isolated nodes are empty. Throws Error{resource} for more than 2^31-1
// nonzeros.
CsrMatrix<double> make_prolongator(const ProlongatorRules& rules);

// Computes the values of P again.
void refill_prolongator(const ProlongatorRules& rules, CsrMatrix<double>& p);

}  // namespace trireme::multigrid
