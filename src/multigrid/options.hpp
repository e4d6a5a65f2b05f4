// SPDX-License-Identifier: BSD-3-Clause
// What a caller asks of a multigrid hierarchy, with the defaults, and the words of the choices.
#pragma once

#include <cstdint>

#include "base/choices.hpp"

namespace trireme::multigrid {

// What reduces the oscillating part of the error on a level.
//   chebyshev     a polynomial of D^-1 A of `degree` for the upper part of the spectrum
//   jacobi        `degree` steps of Jacobi with the weight 4/3 over the spectral radius of D^-1 A
//   l1_jacobi     `degree` steps of Jacobi with the row sums of |a_ij| in place of the diagonal
//   block_jacobi  `degree` steps of Jacobi with the dense diagonal blocks of the nodes
enum class Smoother { chebyshev, jacobi, l1_jacobi, block_jacobi };

// Whether a level visits the coarser one once (v) or twice (w).
enum class CycleKind { v, w };

struct Options {
  Smoother smoother = Smoother::chebyshev;
  std::int32_t degree = 2;  // products of one smoothing, 1 to 8; 1 to 4 of chebyshev
  CycleKind cycle = CycleKind::v;
  // a_ij is strong where |a_ij| > threshold * sqrt(|a_ii a_jj|). From 0 to below 1.
  double threshold = 0.0;
  bool smoothed_prolongator = true;    // false: plain aggregation, for nonsymmetric matrices
  std::int32_t aggressive_levels = 0;  // finest levels that are coarsened twice at once
  // Of the matrix values of all levels: FP32 by default, because a preconditioner need not be exact.
  // A level whose values leave the range of FP32 is stored in FP64.
  Precision precision = Precision::mixed;
  std::int32_t block_size = 1;          // consecutive rows that are the unknowns of one node
  std::int32_t max_levels = 20;         // the finest one counts
  std::int32_t coarsest_rows = 400;     // a level of at most so many rows is inverted
  std::int64_t replicated_rows = 4000;  // a level of at most so many rows lies whole on every rank
  bool operator==(const Options&) const = default;
};

}  // namespace trireme::multigrid

namespace trireme {

template <>
struct WordsOf<multigrid::Smoother> {
  static constexpr Word<multigrid::Smoother> all[] = {
      {"chebyshev", multigrid::Smoother::chebyshev},
      {"jacobi", multigrid::Smoother::jacobi},
      {"l1-jacobi", multigrid::Smoother::l1_jacobi},
      {"block-jacobi", multigrid::Smoother::block_jacobi}};
};
template <>
struct WordsOf<multigrid::CycleKind> {
  static constexpr Word<multigrid::CycleKind> all[] = {{"v", multigrid::CycleKind::v},
                                                       {"w", multigrid::CycleKind::w}};
};

}  // namespace trireme
