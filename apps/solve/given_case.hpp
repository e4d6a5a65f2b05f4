// SPDX-License-Identifier: BSD-3-Clause
// The case that a command line gives: a file, standard input, or the name of a matrix.
#pragma once

#include <mpi.h>

#include <string>

#include "arguments.hpp"

namespace trireme::solve {

// Read and checked on every rank; nothing that it would write replaces what it reads. Collective.
Case given_case(MPI_Comm comm, const Arguments& arguments);

// The case as one YAML text that gives the same run from the current directory. Collective.
std::string printed_case(MPI_Comm comm, const Arguments& arguments);

}  // namespace trireme::solve
