// SPDX-License-Identifier: BSD-3-Clause
// Starts and ends MPI, and prints the last line of a program that fails.
#include "parallel/program.hpp"

#include <mpi.h>

#include <cerrno>
#include <cstdio>
#include <exception>

#include "parallel/quick_mpi_start.hpp"
#include "parallel/run_together.hpp"

namespace trireme {
namespace {

[[noreturn]] void end_with_a_line() {
  const std::exception_ptr error = std::current_exception();
  end_all_ranks(error ? describe(error) : Error(ExitCode::internal, "terminated"));
}

}  // namespace

int run_program(int* argc, char*** argv, const std::function<int()>& work) {
  int provided = 0;
  {
    const QuickMpiStart quick;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  }
  std::set_terminate(end_with_a_line);
  int code = 0;
  try {
    code = run_together(MPI_COMM_WORLD, work);
  } catch (const AgreedError& error) {
    if (rank_of(MPI_COMM_WORLD) == 0)
      std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, error.what());
    code = static_cast<int>(error.code());
  }
  MPI_Finalize();
  return code;
}

}  // namespace trireme
