// SPDX-License-Identifier: BSD-3-Clause
// The command that repeats a run.
#pragma once

#include <string>

namespace trireme::solve {

// Returns the words of the command line as a shell reads them, each in quotes where it needs them.
std::string shell_command(int argc, const char* const* argv);

// Returns the command with what decides about ranks and threads before it: "mpirun -n 4" where
// there are several ranks, and OMP_NUM_THREADS where the environment has it.
std::string repeating_command(const std::string& command, int ranks);

}  // namespace trireme::solve
