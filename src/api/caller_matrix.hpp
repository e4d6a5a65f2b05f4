// SPDX-License-Identifier: BSD-3-Clause
// The caller's arrays, checked and copied into a matrix of the library.
#pragma once

#include <trireme/solver.hpp>

#include <memory>

#include "api/ranks.hpp"
#include "distributed/distributed_matrix.hpp"
#include "sparse/csr.hpp"

namespace trireme::api {

// Throws Error: usage for sizes that do not fit together, input for offsets that descend, an index
// out of range or a value that is not finite, resource for more nonzeros than 32 bits number.
CsrMatrix<double> copied(const CsrArrays& matrix);

// The same of the rows of this rank, as a matrix of all ranks. Throws Error{input} where that is
// not square. Collective.
std::shared_ptr<DistributedMatrix> copied_square(const Ranks& ranks, const CsrArrays& matrix);

// Throws Error{input} that names the first number which is not finite: "b[17] = nan".
void require_finite(std::span<const double> values, const char* name);

// Throws Error{usage}: "b has 3 numbers; 4 are needed".
void require_size(std::size_t size, std::int64_t wanted, const char* name);

}  // namespace trireme::api
