// SPDX-License-Identifier: BSD-3-Clause
// What takes the place of constants on the finest level where A does not nearly annihilate them,
// because its rows and columns are scaled, or because it is no discrete derivative: constants that
// were relaxed, one candidate of adaptive smoothed aggregation (Brezina and others, "Adaptive
// Smoothed Aggregation", SIAM Review 47, 2005, section 3) without its cycles.
//
//   x = 1, then kRelaxations times x -= w D^-1 A x, w = 4/3 / (1.1 rho(D^-1 A))
//
// In nodes of several rows, A stands for its entries between equal unknowns. The levels are then
// those of X A X with X = diag(x), whose constants are as good as x is for A, and the prolongator
// to the finest level is X P. Coarse matrices are the same, since (X P)^T A (X P) = P^T (X A X) P.
// docs/decisions/33-what-else-was-tried-for-preconditioners.md has the figures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/array.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

inline constexpr int kRelaxations = 20;
inline constexpr double kRelaxationWeight = 4.0 / 3 / 1.1;  // times rho
// Constants stay where the sums of more than this part of the rows are small.
inline constexpr double kMostSmallSums = 0.8;
// Of the root mean square of x, which is 1: no number is smaller.
inline constexpr double kLeastRelaxed = 1e-6;

// x by column of `a`, ghosts included. None: constants stay, because they serve, or because
// relaxing makes them larger, which it does not where A is positive definite. The bits do not
// depend on threads, and those of one rank are those of a GPU. Collective.
std::optional<Array<double>> relaxed_constants(const ExtendedRows& a, std::int32_t block_size);

// p = X P. `x` has the rows of P.
void scale_rows(std::span<const double> x, CsrMatrix<double>& p);

}  // namespace trireme::multigrid
