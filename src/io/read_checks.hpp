// SPDX-License-Identifier: BSD-3-Clause
// What both readers check and finish alike.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>

#include "io/read_matrix.hpp"

namespace trireme {

// Reads the pointers of positions [first, last] in pieces and hands each piece on with the position
// of its start. Checks that they begin with 0, never decrease and end with nnz.
void scan_pointers(const StoredMatrix& stored, std::int64_t first, std::int64_t last,
                   const std::function<void(std::int64_t, std::span<const std::int64_t>)>& take);

// The cuts that give each rank about the same work, by a scan of each rank's even share of the
// pointers. Collective.
std::vector<std::int64_t> balanced_starts(MPI_Comm comm, const StoredMatrix& stored);

// Throws for the first index out of range, as the file has it; the span begins at entry
// `first_entry` of the file.
void check_indices(const StoredMatrix& stored, std::int64_t first_entry,
                   std::span<const std::int32_t> indices);

// Throws resource when one rank would hold more than 2^31-1 nonzeros.
void check_local_nnz(const StoredMatrix& stored, std::int64_t nnz);

// Rows in canonical order, and the counts over all ranks. Collective.
void finish_rows(MPI_Comm comm, MatrixOnRanks& matrix);

}  // namespace trireme
