// SPDX-License-Identifier: BSD-3-Clause
// Reads an HDF5 file as solve and problem do, on one rank.
#pragma once

#include <filesystem>

namespace trireme::fuzz {

// Reads every group at the top level as a matrix, and every dataset there as right-hand sides, each
// under must_read_or_refuse().
void read_all_of_hdf5(const std::filesystem::path& path);

}  // namespace trireme::fuzz
