// SPDX-License-Identifier: BSD-3-Clause
// Reads an HDF5 file in every way that solve and problem do, on one rank.
#pragma once

#include <filesystem>

namespace trireme::fuzz {

// Every group at the top as a matrix, every dataset there as right-hand sides. Each reading keeps
// the promise of must_read_or_refuse().
void read_all_of_hdf5(const std::filesystem::path& path);

}  // namespace trireme::fuzz
