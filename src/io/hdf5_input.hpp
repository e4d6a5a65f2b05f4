// SPDX-License-Identifier: BSD-3-Clause
// HDF5 as an input format: matrices are groups, vectors are datasets, each rank reads its own rows.
#pragma once

#include <mpi.h>

#include <filesystem>
#include <memory>

#include "io/system_source.hpp"

namespace trireme {

// Whether the file is HDF5; MATLAB v7.3 files are, behind 512 bytes of their own.
bool is_hdf5(const std::filesystem::path& path);

// Throws Error{input} on every rank where the file cannot be opened. Collective.
std::unique_ptr<SystemSource> open_hdf5(MPI_Comm comm, const std::filesystem::path& path);

}  // namespace trireme
