// SPDX-License-Identifier: BSD-3-Clause
// problem inspect: statistics of a matrix, and the share of each rank.
#include <fmt/format.h>
#include <mpi.h>

#include <memory>
#include <string>

#include "app/graph_shares.hpp"
#include "app/memory.hpp"
#include "app/memory_forecast.hpp"
#include "commands.hpp"
#include "inspect_table.hpp"
#include "io/modes.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"

namespace trireme::problem_app {
namespace {

// What multigrid would take from the file for the matrix, in words. Empty where the file has nothing
// for it.
std::string near_nullspace_of(SystemSource& source, const ProblemSpec& spec, const RowSlab& slab) {
  if (slab.global_rows != slab.global_cols) return "";
  const ModesPlace place = find_modes(MPI_COMM_WORLD, source, spec);
  const RowRange rows{slab.first_row, slab.local.rows, slab.global_rows};
  return describe(place, read_modes(MPI_COMM_WORLD, source, place, rows));
}

}  // namespace

void inspect(const InspectOptions& options) {
  if (size_of(MPI_COMM_WORLD) != 1)
    fail(ExitCode::usage,
         "problem inspect runs on one rank; --ranks P shows the shares of P ranks");
  ProblemSpec spec;
  spec.source = SystemFile{.file = options.file, .matrix = options.matrix, .x0 = {}, .x_exact = {}};
  const SystemFile& system = std::get<SystemFile>(spec.source);
  const std::unique_ptr<SystemSource> source = open_system(MPI_COMM_WORLD, system);
  const auto program_bytes = static_cast<double>(resident_bytes());
  Case solve_by_cg;
  solve_by_cg.problem.source = system;
  const std::string forecast = forecast_table(
      forecast_memory(solve_by_cg, source->facts(system.matrix), options.ranks, program_bytes));
  const MatrixOnRanks matrix = source->read_matrix(system.matrix, 1);
  if (matrix.slab.is_wide())
    fail(ExitCode::resource, "problem inspect shows matrices of at most 2^31-1 columns");
  const std::string modes = near_nullspace_of(*source, spec, matrix.slab);
  const CsrMatrix<double>& local = matrix.slab.local;
  fmt::print("{}", matrix_table(problem_name(spec), matrix_statistics(local),
                                matrix.duplicates_summed, modes));
  fmt::print("\n{}", forecast);
  fmt::print("\n{}", ranks_table(rank_shares(local, options.ranks)));
  if (options.distribution == "graph")
    fmt::print("\nafter graph partitioning\n{}",
               ranks_table(graph_shares(matrix.slab, options.ranks)));
}

}  // namespace trireme::problem_app
