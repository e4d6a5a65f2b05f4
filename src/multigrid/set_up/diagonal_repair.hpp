// SPDX-License-Identifier: BSD-3-Clause
// Diagonal entries of a coarse matrix that are zero but for rounding.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// The sum of p_ic^2 |a_ii| for each column c of P, from P^T (`pt`) and the diagonal of A.
Array<double> column_weights(const CsrMatrix<double>& pt, std::span<const double> diagonal);

// Replaces each entry (c, c) that is below weights[c] by a factor of 2^-44, or 0, by weights[c], or
// by `substitute` where that is 0. Returns how many entries it has replaced.
std::int64_t repair_diagonal(CsrMatrix<double>& matrix, std::span<const double> weights,
                             double substitute);

}  // namespace trireme::multigrid
