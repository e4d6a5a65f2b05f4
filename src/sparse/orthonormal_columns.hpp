// SPDX-License-Identifier: BSD-3-Clause
// Orthonormal columns of a tall matrix whose rows lie on many ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sparse/modes.hpp"

namespace trireme {

// Adds up numbers over all ranks, in place.
using SumOverRanks = std::function<void(std::span<double>)>;

// Divides each column by its norm over all ranks, and returns the norms. A column whose norm is
// zero or not finite stays as it is.
std::vector<double> normalise_columns(Modes& modes, const SumOverRanks& sum);

// Makes the columns orthonormal over all ranks: Cholesky QR, done twice so that the columns are
// orthogonal to rounding (Yamamoto, Nakatsukasa, Yanagisawa, Fukaya 2015, "Roundoff error analysis
// of the CholeskyQR2 algorithm", section 2). A column whose part that is orthogonal to the columns
// before it is shorter than 1e-6 of the longest column is left out. Returns the numbers of the
// columns that were left out. The result has the same bits for any number of threads.
std::vector<std::int32_t> orthonormalise(Modes& modes, const SumOverRanks& sum);

}  // namespace trireme
