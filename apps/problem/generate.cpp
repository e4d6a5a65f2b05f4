// SPDX-License-Identifier: BSD-3-Clause
// problem generate: a model problem as an HDF5 file.
#include <fmt/format.h>
#include <mpi.h>

#include "base/printable.hpp"
#include "base/stopwatch.hpp"
#include "commands.hpp"
#include "io/output_file.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"
#include "sparse/varied_values.hpp"

namespace trireme::problem_app {

namespace {

// The values of each step as a dataset of their own: /values/0, /values/1, ...
void write_steps(OutputFile& file, const RowSlab& slab, std::int64_t steps) {
  RowRange entries{0, slab.local.nnz(), slab.global_nnz};
  MPI_Exscan(&entries.count, &entries.first, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank_of(MPI_COMM_WORLD) == 0) entries.first = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Array<double> values = varied_values(slab, step, steps);
    file.write_vectors(fmt::format("/values/{}", step), entries, {&values, 1});
  }
}

// The coordinates of the nodes as /coordinates, where the kind has them.
void write_coordinates(OutputFile& file, const GenerateSpec& spec, const RowRange& rows) {
  const std::int64_t unknowns = generator_unknowns_per_node(spec);
  const auto first_node_from = [&](std::int64_t row) { return (row + unknowns - 1) / unknowns; };
  const std::int64_t first = first_node_from(rows.first);
  const std::int64_t last = first_node_from(rows.first + rows.count);
  std::vector<Array<double>> coordinates;
  collectively(MPI_COMM_WORLD, [&] { coordinates = generator_coordinates(spec, first, last); });
  if (coordinates.empty()) return;
  file.write_vectors("/coordinates", {first, last - first, rows.global / unknowns}, coordinates);
}

}  // namespace

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
  write_coordinates(file, options.spec, rows);
  write_steps(file, slab, options.steps);
  file.write_attribute("source", problem.name);
  file.commit();
  if (rank_of(MPI_COMM_WORLD) == 0)
    print_text(stdout, fmt::format("{}: {} x {}, {} nonzeros in {}, {:.2f} s\n",
                                   options.output.string(), slab.global_rows, slab.global_cols,
                                   slab.global_nnz, options.matrix, stopwatch.seconds()));
}

}  // namespace trireme::problem_app
