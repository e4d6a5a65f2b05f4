// SPDX-License-Identifier: BSD-3-Clause
// Assembles a Problem from its spec.
#include "io/problem.hpp"

#include <memory>
#include <numeric>
#include <utility>

#include "base/stopwatch.hpp"
#include "io/formats.hpp"
#include "io/generated_source.hpp"
#include "io/modes.hpp"
#include "parallel/collective.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {
namespace {

// Collective.
std::unique_ptr<SystemSource> open_source(MPI_Comm comm, const ProblemSpec& spec) {
  if (const auto* system = std::get_if<SystemFile>(&spec.source)) return open_system(comm, *system);
  return generated_source(comm, std::get<GenerateSpec>(spec.source), problem_name(spec));
}

// Collective.
MatrixOnRanks read_matrix_from(MPI_Comm comm, SystemSource& source, const ProblemSpec& spec,
                               std::int64_t rows_together) {
  const auto* system = std::get_if<SystemFile>(&spec.source);
  MatrixOnRanks matrix = source.read_matrix(system ? system->matrix : "", rows_together);
  collectively(comm, [&] { cut_again(matrix.slab.local, spec.most_of_block); });
  return matrix;
}

RowRange rows_of(const Problem& problem) {
  const RowSlab& slab = problem.matrix;
  return {slab.first_row, slab.local.rows, slab.global_rows};
}

void make_rhs(MadeRhs rhs, std::int64_t count, Problem& problem) {
  const RowRange rows = rows_of(problem);
  switch (rhs) {
    case MadeRhs::ones:
      problem.rhs.push_back(constant_vector(rows.count, 1.0));
      break;
    case MadeRhs::random:
      for (std::int64_t k = 0; k < count; ++k)
        problem.rhs.push_back(random_vector(rows, static_cast<std::uint64_t>(k) + 1));
      break;
    case MadeRhs::from_ones:
      problem.rhs.push_back(row_sums(problem.matrix.local));
      problem.x_exact.push_back(constant_vector(rows.count, 1.0));
      break;
  }
}

// Collective.
void read_or_make_rhs(MPI_Comm comm, SystemSource& source, const ProblemSpec& spec,
                      Problem& problem) {
  if (const auto* made = std::get_if<MadeRhs>(&problem.chosen.rhs))
    collectively(comm, [&] { make_rhs(*made, spec.rhs_count, problem); });
  else
    problem.rhs = read_right_hand_sides(comm, source, spec, problem.chosen, rows_of(problem));
}

// Collective.
void read_x_exact(MPI_Comm comm, SystemSource& source, const std::string& name, Problem& problem) {
  collectively(comm, [&] {
    if (!problem.x_exact.empty())
      fail(ExitCode::usage,
           "rhs from-ones makes the solution 1; remove x_exact or name a dataset as rhs");
  });
  problem.x_exact = source.read_vectors(name, rows_of(problem));
  collectively(comm, [&] {
    if (problem.x_exact.size() != problem.rhs.size())
      fail(ExitCode::input, "{} holds {} vectors, but there are {} right-hand sides in {}", name,
           problem.x_exact.size(), problem.rhs.size(), problem.name);
  });
}

}  // namespace

std::string problem_name(const ProblemSpec& spec) {
  if (const auto* model = std::get_if<GenerateSpec>(&spec.source))
    return fmt::format("{}, n = {}", model->kind, model->n);
  const auto& system = std::get<SystemFile>(spec.source);
  const std::string file = system.file.filename().string();
  const InputFormat* format = find_format(system.file);
  const bool named = !format || format->content == Content::named_objects;
  return named ? fmt::format("{}:{}", file, system.matrix) : file;
}

std::unique_ptr<SystemSource> open_system(MPI_Comm comm, const SystemFile& system) {
  collectively(comm, [&] {
    if (system.file.empty()) fail(ExitCode::usage, "the problem needs a file or a generator");
  });
  const InputFormat& format = format_of(comm, system.file);
  collectively(comm, [&] {
    if (format.content == Content::one_system && system.matrix != SystemFile().matrix)
      fail(ExitCode::usage,
           "{} ({}) holds one matrix without a name; {} names a matrix in an HDF5 file",
           system.file.string(), format.name, system.matrix);
  });
  return format.open(comm, system.file);
}

MatrixOnRanks load_matrix(MPI_Comm comm, const ProblemSpec& spec) {
  return read_matrix_from(comm, *open_source(comm, spec), spec, spec.rows_together);
}

Problem load_problem(MPI_Comm comm, const ProblemSpec& spec, EntriesSink* sink,
                     const BeforeReading& before_reading) {
  const Stopwatch stopwatch;
  const std::unique_ptr<SystemSource> source = open_source(comm, spec);
  if (before_reading) {
    const auto* system = std::get_if<SystemFile>(&spec.source);
    before_reading(source->facts(system ? system->matrix : ""));
  }
  source->pass_entries_to(sink);
  Problem problem;
  std::optional<ModesPlace> modes;
  if (spec.with_modes) modes = find_modes(comm, *source, spec);
  problem.rows_together = std::lcm(spec.rows_together, modes ? modes->block_size : 1);
  MatrixOnRanks matrix = read_matrix_from(comm, *source, spec, problem.rows_together);
  problem.name = problem_name(spec);
  problem.matrix = std::move(matrix.slab);
  problem.row_starts = std::move(matrix.row_starts);
  problem.duplicates_summed = matrix.duplicates_summed;
  problem.check_seconds = matrix.check_seconds;
  problem.in_stored_order = matrix.in_stored_order;
  problem.none_above_usual = matrix.none_above_usual;
  problem.hashes = matrix.hashes;
  collectively(comm, [&] {
    const RowSlab& slab = problem.matrix;
    if (slab.global_rows != slab.global_cols)
      fail(ExitCode::input, "{} is {} x {}; a linear system needs a square matrix", problem.name,
           slab.global_rows, slab.global_cols);
  });
  if (modes) problem.modes = read_modes(comm, *source, *modes, rows_of(problem));
  problem.chosen = choose_vectors(comm, *source, spec);
  read_or_make_rhs(comm, *source, spec, problem);
  if (!problem.chosen.x0.empty())
    problem.x0 = read_initial_guess(comm, *source, spec, problem.chosen, rows_of(problem));
  if (const auto* system = std::get_if<SystemFile>(&spec.source)) {
    if (!system->x_exact.empty()) read_x_exact(comm, *source, system->x_exact, problem);
  }
  problem.read_seconds = stopwatch.seconds();
  return problem;
}

}  // namespace trireme
