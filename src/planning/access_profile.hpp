// SPDX-License-Identifier: BSD-3-Clause
// How the rows of a matrix read x: in the order in which they stand, and in an order that puts
// neighbours together. Both are estimated from samples, so that no order has to be made.
#pragma once

#include <cstdint>

#include "sparse/csr.hpp"

namespace trireme {

// Sectors (32 bytes, 4 numbers) of x that a group of 256 rows reads, over its nonzeros. Rows that
// follow each other share sectors through a cache. The values lie between 0 and 1.
struct AccessProfile {
  double given = 0;      // groups of consecutive rows
  double clustered = 0;  // groups that a breadth-first search gathers from one row
};

// Samples 32 groups at evenly spaced rows of a square matrix, which takes about a millisecond. Rows
// of more than 4096 nonzeros are left out of the searches. The result depends on the matrix alone.
AccessProfile access_profile(const CsrMatrix<double>& matrix);

}  // namespace trireme
