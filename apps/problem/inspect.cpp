// SPDX-License-Identifier: BSD-3-Clause
// problem inspect: statistics of a matrix, and the share of each rank.
#include <fmt/format.h>
#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/figures/memory.hpp"
#include "app/figures/memory_forecast.hpp"
#include "app/system/graph_shares.hpp"
#include "app/system/looks.hpp"
#include "base/printable.hpp"
#include "commands.hpp"
#include "inspect_table.hpp"
#include "io/modes.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"

namespace trireme::problem_app {
namespace {

// What multigrid would take from the file for the matrix, in words. Empty where the file has
// nothing for it.
std::string near_nullspace_of(SystemSource& source, const ProblemSpec& spec, const RowSlab& slab) {
  if (slab.global_rows != slab.global_cols) return "";
  const ModesPlace place = find_modes(MPI_COMM_WORLD, source, spec);
  const RowRange rows{slab.first_row, slab.local.rows, slab.global_rows};
  return describe(place, read_modes(MPI_COMM_WORLD, source, place, rows));
}

// A vector that a solve would take, or what it would refuse about it.
std::string shape_in_words(SystemSource& source, const std::string& name, const RowSlab& slab) {
  try {
    const VectorShape shape = source.shape_of(name);
    const std::string origin = source.origin_of(name);
    if (shape.length != slab.global_rows)
      return fmt::format("{} has {} rows, the matrix {}: solve refuses it", origin, shape.length,
                         slab.global_rows);
    return shape.count == 1 ? origin : fmt::format("{}, {} vectors", origin, shape.count);
  } catch (const Error& error) {
    return fmt::format("solve refuses it: {}", error.what());
  }
}

// The right-hand side and the initial guess of a solve whose case names none.
std::vector<TableLine> vectors_of(SystemSource& source, const ProblemSpec& spec,
                                  const RowSlab& slab) {
  const ChosenVectors chosen = choose_vectors(MPI_COMM_WORLD, source, spec);
  const bool made = std::holds_alternative<MadeRhs>(chosen.rhs);
  if (made && slab.global_rows != slab.global_cols) return {};
  std::vector<TableLine> lines = {{"right-hand side", made
                                                          ? "none: solve makes b = A 1"
                                                          : shape_in_words(source, kUsualB, slab)}};
  if (!chosen.x0.empty())
    lines.push_back({"initial guess", shape_in_words(source, chosen.x0, slab)});
  return lines;
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
  MatrixOnRanks matrix = source->read_matrix(system.matrix, 1);
  RowSlab& slab = matrix.slab;
  if (slab.is_wide())
    fail(ExitCode::resource, "problem inspect shows matrices of at most 2^31-1 columns");
  const std::vector<TableLine> vectors = vectors_of(*source, spec, slab);
  const std::string modes = near_nullspace_of(*source, spec, slab);
  const MatrixStatistics statistics = matrix_statistics(slab.local);
  std::string shares = "\n" + ranks_table(rank_shares(slab.local, options.ranks));
  if (options.distribution == "graph")
    shares += "\nafter graph partitioning\n" + ranks_table(graph_shares(slab, options.ranks));
  std::optional<Looks> looks;
  if (slab.global_rows == slab.global_cols) looks = looks_of(MPI_COMM_WORLD, std::move(slab));
  print_text(stdout, matrix_table(printable_line(problem_name(spec)), statistics, looks,
                                  matrix.duplicates_summed, modes, vectors));
  print_text(stdout, "\n" + forecast + shares);
}

}  // namespace trireme::problem_app
