// SPDX-License-Identifier: BSD-3-Clause
// Input formats that one process reads from start to end: rank 0 reads the file, and each rank
// receives its rows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/array.hpp"
#include "io/system_source.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// What such a file holds: one matrix, and the right-hand sides that may follow it or lie in a file
// beside it. A file that is read for its vectors alone has no matrix.
struct WholeSystem {
  CsrMatrix<double> matrix;            // columns ascend in each row, none is stored twice
  std::vector<Array<double>> b;        // right-hand sides of equal lengths, or empty
  std::filesystem::path b_beside;      // the file that holds them, where `b` is empty; or empty
  std::int64_t duplicates_summed = 0;  // stored entries that were added to another
};

// Reads a file of the format on this process, with all of its threads. Throws Error{input} for a
// fault of the file, Error{resource} where the memory does not suffice.
using WholeReader = WholeSystem (*)(const std::filesystem::path& path);

// Reads the file on rank 0. The right-hand sides have the name /b, which they get from `problem
// import` too; those of a file beside it are read by `read_beside` when they are asked for. Rank 0
// holds the whole matrix until read_matrix() has sent the rows. Collective.
std::unique_ptr<SystemSource> open_whole(MPI_Comm comm, const std::filesystem::path& path,
                                         WholeReader read, WholeReader read_beside = nullptr);

// The same as a function for the list of formats (formats.cpp).
template <WholeReader read, WholeReader read_beside = nullptr>
std::unique_ptr<SystemSource> open_on_rank_0(MPI_Comm comm, const std::filesystem::path& path) {
  return open_whole(comm, path, read, read_beside);
}

}  // namespace trireme
