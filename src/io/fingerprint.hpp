// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which a matrix and vectors are recognised, on any number of ranks.
//
// Each row has a hash of 64 bits (XXH3) of its number, its columns and its values. The fingerprint
// is the sum of the hashes modulo 2^64, so that it does not depend on the distribution of the rows.
// It distinguishes systems; it does not protect against forgery.
#pragma once

#include <cstdint>
#include <span>

#include "sparse/csr.hpp"

namespace trireme {

// The part of this rank's rows. The sum of the parts of all ranks is the fingerprint of the matrix.
std::uint64_t fingerprint(const RowSlab& rows);
// The part of this rank's entries, which begin at row `first_row`, of vector number `column`.
std::uint64_t fingerprint(std::span<const double> vector, std::int64_t first_row,
                          std::int64_t column = 0);

}  // namespace trireme
