// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that nobody can foresee: the keys of hashes whose equality decides something.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

namespace trireme {

// Fills `numbers` from the random numbers of rank 0's system, with the same ones on every rank.
// Collective.
void fill_with_secret_numbers(MPI_Comm comm, std::span<std::uint64_t> numbers);

// One such number. Collective.
std::uint64_t secret_number(MPI_Comm comm);

}  // namespace trireme
