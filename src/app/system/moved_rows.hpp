// SPDX-License-Identifier: BSD-3-Clause
// Vectors of rows that come to other ranks, because the pattern of the matrix has changed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "base/array.hpp"

namespace trireme {

// Numbers whose rows, of `width` numbers each, lie on the ranks by the cuts `from` come to the cuts
// `to`. Each rank holds all of them for a moment. Collective.
Array<double> moved_rows(MPI_Comm comm, const Array<double>& numbers, std::int64_t width,
                         const std::vector<std::int64_t>& from,
                         const std::vector<std::int64_t>& to);

}  // namespace trireme
