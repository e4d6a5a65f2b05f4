// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which a matrix and vectors are recognised, on any number of ranks.
//
// A row, with its number, its columns and its values, has a hash of 64 bits (XXH3), and the
// fingerprint is the sum of these modulo 2^64: so it depends neither on the distribution of the
// rows nor on their order. It tells one system from another; it is no protection against forgery.
#pragma once

#include <cstdint>
#include <span>

#include "sparse/csr.hpp"

namespace trireme {

// Of this rank's rows: the sum over the ranks is the matrix's.
std::uint64_t fingerprint(const RowSlab& rows);
// Likewise of the rows from `first_row` on of vector number `column`.
std::uint64_t fingerprint(std::span<const double> vector, std::int64_t first_row,
                          std::int64_t column = 0);

}  // namespace trireme
