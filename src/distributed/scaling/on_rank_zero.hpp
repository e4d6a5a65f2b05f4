// SPDX-License-Identifier: BSD-3-Clause
// The rows of all ranks on rank 0, in the order of the file, for work that one rank does.
#pragma once

#include <cstdint>

#include "distributed/distributed_matrix.hpp"
#include "distributed/redistribution.hpp"

namespace trireme {

// Rows move to rank 0 and take the order that they have in the file, so that what rank 0 finds does
// not depend on the ranks. Throws Error{resource} for more than 2^31-1 rows. Collective, as are the
// other functions.
Redistribution to_rank_zero(const DistributedMatrix& matrix);

// The matrix moved by this. The other ranks get a matrix of no rows.
CsrMatrix<double> moved_matrix(Redistribution& to_rank_zero, const DistributedMatrix& matrix);

// At most 10 million nonzeros and as many rows, which rank 0 gathers and matches in some seconds.
inline constexpr std::int64_t kMostOnRankZero = 10'000'000;

// The bytes that rank 0 takes at most to gather such a matrix and to match its rows.
double bytes_on_rank_zero(double rows, double nonzeros);

// Whether the matrix has at most so many nonzeros and rows, and rank 0 has the memory for them.
bool fits_on_rank_zero(const DistributedMatrix& matrix, std::int64_t most = kMostOnRankZero);

}  // namespace trireme
