// SPDX-License-Identifier: BSD-3-Clause
// solve --study: the process that starts the runs. It does not use MPI, which its runs initialise.
#pragma once

namespace trireme::solve {

// Whether the words before "--" contain --study.
bool asks_for_study(int argc, const char* const* argv);

// Returns the exit code of the program. Prints an error as one line.
int study_main(int argc, const char* const* argv);

}  // namespace trireme::solve
