// SPDX-License-Identifier: BSD-3-Clause
// problem inspect: statistics of a matrix, and the share of each rank.
#include <fmt/format.h>
#include <mpi.h>

#include "commands.hpp"
#include "inspect_table.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"

namespace trireme::problem_app {

void inspect(const InspectOptions& options) {
  if (size_of(MPI_COMM_WORLD) != 1)
    fail(ExitCode::usage,
         "problem inspect runs on one rank; --ranks P shows the shares of P ranks");
  ProblemSpec spec;
  spec.source = SystemFile{.file = options.file, .matrix = options.matrix, .x0 = {}, .x_exact = {}};
  const MatrixOnRanks matrix = load_matrix(MPI_COMM_WORLD, spec);
  const CsrView<double> view = matrix.slab.local.view();
  fmt::print("{}",
             matrix_table(problem_name(spec), matrix_statistics(view), matrix.duplicates_summed));
  fmt::print("\n{}", ranks_table(rank_shares(view, options.ranks)));
}

}  // namespace trireme::problem_app
