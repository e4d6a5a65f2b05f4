// SPDX-License-Identifier: BSD-3-Clause
// problem generate: a model problem as an HDF5 file.
#include <fmt/format.h>
#include <mpi.h>

#include "base/stopwatch.hpp"
#include "commands.hpp"
#include "io/output_file.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"

namespace trireme::problem_app {

void generate_file(const GenerateOptions& options) {
  const Stopwatch stopwatch;
  ProblemSpec spec;
  spec.source = options.spec;
  if (const auto rhs = choice_of<MadeRhs>(options.rhs)) spec.rhs = *rhs;
  const Problem problem = load_problem(MPI_COMM_WORLD, spec);
  const RowSlab& slab = problem.matrix;
  const RowRange rows{slab.first_row, slab.local.rows, slab.global_rows};
  OutputFile file(MPI_COMM_WORLD, options.output);
  file.write_matrix(options.matrix, slab);
  if (!options.rhs.empty()) {
    file.write_vectors("/b", rows, problem.rhs);
    if (!problem.x_exact.empty()) file.write_vectors("/x_exact", rows, problem.x_exact);
  }
  file.write_attribute("source", problem.name);
  file.commit();
  if (rank_of(MPI_COMM_WORLD) == 0)
    fmt::print("{}: {} x {}, {} nonzeros in {}, {:.2f} s\n", options.output.string(),
               slab.global_rows, slab.global_cols, slab.global_nnz, options.matrix,
               stopwatch.seconds());
}

}  // namespace trireme::problem_app
