// SPDX-License-Identifier: BSD-3-Clause
// The main() of a program that runs under mpirun.
#pragma once

#include <functional>

namespace trireme {

// Initialises MPI, runs `work` on all ranks together, ends MPI, and returns the exit code: that of
// `work`, or that of the error that `work` threw, which rank 0 prints in one line. An exception
// that nobody can catch, such as in a thread of a parallel loop, also ends all ranks with a line.
int run_program(int* argc, char*** argv, const std::function<int()>& work);

}  // namespace trireme
