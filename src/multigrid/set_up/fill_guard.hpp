// SPDX-License-Identifier: BSD-3-Clause
// Tells a coarse matrix that fills up before it is computed.
#pragma once

#include <cstdint>

#include "sparse/csr.hpp"

namespace trireme::multigrid {

// The number of terms of A P, in runs of `run` numbers.
double runs_of_terms(const CsrView<double>& a, const CsrView<double>& p, std::int32_t run);

// A lower bound of the number of nonzeros of P^T A P, from the pattern alone: coarse row I has the
// columns of each row i of A P with p_iI != 0, and so at least as many as the longest of these. `p`
// has the rows of all columns of A; those of A's rows come first. Only columns below `own` of P
// count as coarse rows. `run` is that of TripleProduct, and `terms` what runs_of_terms() returns. 0
// where the rows of P are so short that A P takes little memory: then nothing is counted. The
// memory is 8 bytes per column of P and 4 per column and thread.
std::int64_t least_coarse_nonzeros(const CsrView<double>& a, const CsrView<double>& p,
                                   std::int64_t own, std::int32_t run, double terms);

}  // namespace trireme::multigrid
