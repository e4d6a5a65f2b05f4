// SPDX-License-Identifier: BSD-3-Clause
// Systems that have no solution because the matrix is singular and symmetric.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/solves/plain_product.hpp"
#include "distributed/distributed_matrix.hpp"

namespace trireme {

// How much work the search may be.
struct NullVectorSearch {
  std::int64_t max_iterations = 0;
  double max_seconds = 0;  // the slowest rank
};

// Whether the vectors of the search take a small part of the free memory on every rank. Collective.
bool has_room_for_search(const DistributedMatrix& matrix);

// Why no x has a residual of `target`, as a clause: the symmetric matrix maps a vector to zero
// along which b has a part. Empty where no such vector was found. The vector is D^-1 b without the
// part that MINRES finds in the range: z = D^-1 b - y, where A y = A D^-1 b. Collective.
std::string find_null_vector(const DistributedMatrix& matrix, PlainProduct& product,
                             std::span<const double> b, double target,
                             const NullVectorSearch& search);

}  // namespace trireme
