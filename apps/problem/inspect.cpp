// SPDX-License-Identifier: BSD-3-Clause
// problem inspect: what a matrix looks like.
#include <fmt/format.h>
#include <mpi.h>

#include <utility>

#include "commands.hpp"
#include "inspect_table.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"
#include "read_any.hpp"

namespace trireme::problem_app {

void inspect(const InspectOptions& options) {
  if (size_of(MPI_COMM_WORLD) != 1)
    fail(ExitCode::usage, "problem inspect runs on one rank; --ranks P shows what P would hold");
  CsrMatrix<double> matrix;
  std::string name = options.file.filename().string();
  std::int64_t duplicates = 0;
  if (is_hdf5_name(options.file)) {
    ProblemSpec spec;
    spec.source =
        SystemFile{.file = options.file, .matrix = options.matrix, .x0 = {}, .x_exact = {}};
    MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec);
    name = problem_name(spec);
    duplicates = read.duplicates_summed;
    matrix = std::move(read.slab.local);
  } else {
    matrix = read_foreign(options.file).matrix;
  }
  const CsrView<double> view = matrix.view();
  fmt::print("{}", matrix_table(name, matrix_statistics(view), duplicates));
  fmt::print("\n{}", ranks_table(rank_shares(view, options.ranks)));
}

}  // namespace trireme::problem_app
