// SPDX-License-Identifier: BSD-3-Clause
// Checks and steps that the readers by rows and by columns share.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>

#include "io/read_matrix.hpp"

namespace trireme {

// Reads the pointers at positions [first, last] in pieces, and calls take(position, pointers) for
// each piece. Throws Error{input} unless they begin with 0, never decrease and end with nnz.
void scan_pointers(const StoredMatrix& stored, std::int64_t first, std::int64_t last,
                   const std::function<void(std::int64_t, std::span<const std::int64_t>)>& take);

// Reads the pointers of the rows [first, first + local.rows) with all threads, and sets row_ptr and
// cuts of `local`, whose blocks have at most stored.most_of_block nonzeros. Checks what
// scan_pointers() checks, and throws Error{resource} for a row of more nonzeros.
struct EntryRange {
  std::int64_t first = 0, count = 0;  // of the rows in the file
};
EntryRange read_row_ptr(const StoredMatrix& stored, std::int64_t first, CsrMatrix<double>& local);

// The cuts that give each rank about the same work. Each rank scans an even share of the pointers.
// Collective.
std::vector<std::int64_t> balanced_starts(MPI_Comm comm, const StoredMatrix& stored);

// Throws Error{input} for the index at a position of the file, with its value in the file.
[[noreturn]] void fail_out_of_range(const StoredMatrix& stored, std::int64_t position);
// The same for the first index out of range, if there is one. `indices` begin at entry
// `first_entry` of the file.
void check_indices(const StoredMatrix& stored, std::int64_t first_entry,
                   std::span<const std::int32_t> indices);

// Puts the rows into canonical order and counts nonzeros and duplicates of all ranks. Returns
// whether the rows of every rank were in that order before. Collective.
bool finish_rows(MPI_Comm comm, MatrixOnRanks& matrix);

}  // namespace trireme
