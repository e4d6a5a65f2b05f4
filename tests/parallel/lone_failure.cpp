// SPDX-License-Identifier: BSD-3-Clause
// A program whose rank 1 fails while the others wait for it in a collective call.
#include <mpi.h>

#include <new>
#include <string>
#include <thread>

#include "parallel/collective.hpp"
#include "parallel/program.hpp"

namespace {

void fail_by(const std::string& how) {
  if (how == "error") trireme::fail(trireme::ExitCode::input, "the file of this rank is gone");
  if (how == "memory") throw std::bad_alloc();
  if (how == "part")  // agreed upon by this rank and nobody else
    trireme::collectively(MPI_COMM_SELF, [] {
      trireme::fail(trireme::ExitCode::input, "the part of this rank is gone");
    });
  if (how == "thread") std::thread([] { throw std::bad_alloc(); }).join();
}

}  // namespace

int main(int argc, char** argv) {
  return trireme::run_program(&argc, &argv, [&] {
    const bool all = std::string(argv[2]) == "all";
    if (all || trireme::rank_of(MPI_COMM_WORLD) == 1) fail_by(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  });
}
