// SPDX-License-Identifier: BSD-3-Clause
// Assembles a Problem from its spec.
#include "io/problem.hpp"

#include <algorithm>
#include <utility>

#include "base/stopwatch.hpp"
#include "io/require_memory.hpp"
#include "io/row_cuts.hpp"
#include "io/vectors.hpp"
#include "parallel/collective.hpp"
#include "sparse/generators.hpp"

namespace trireme {
namespace {

// At least about so many, from the rows in the middle: to count the nonzeros takes memory too.
double estimated_bytes(const GenerateSpec& spec, std::int64_t rows) {
  constexpr std::int64_t max_sampled = 1000;
  const std::int64_t first = rows / 2;
  const std::int64_t last = std::min(rows, first + max_sampled);
  double sampled = 0;
  for (const std::int32_t length : generator_row_lengths(spec, first, last)) sampled += length;
  const double per_row = sampled / static_cast<double>(std::max<std::int64_t>(1, last - first));
  return csr_bytes(static_cast<double>(rows), static_cast<double>(rows) * per_row / 2);
}

MatrixOnRanks generate_matrix(MPI_Comm comm, const ProblemSpec& problem) {
  const auto& spec = std::get<GenerateSpec>(problem.source);
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  std::int64_t rows = 0;
  double bytes = 0;
  collectively(comm, [&] {
    rows = generator_shape(spec).rows;
    bytes = estimated_bytes(spec, rows);
  });
  require_memory(comm, problem_name(problem), bytes);
  Array<std::int32_t> lengths;
  collectively(comm, [&] {
    lengths = generator_row_lengths(spec, even_share(rows, ranks, rank),
                                    even_share(rows, ranks, rank + 1));
  });
  std::int64_t nnz = 0;
  for (const std::int32_t length : lengths) nnz += length;
  require_memory(
      comm, problem_name(problem),
      csr_bytes(static_cast<double>(rows), static_cast<double>(sum_over_ranks(comm, nnz))));
  MatrixOnRanks matrix;
  matrix.row_starts = balanced_starts(comm, rows, lengths, problem.rows_together);
  collectively(comm, [&] {
    matrix.slab = generate(spec, matrix.row_starts[rank], matrix.row_starts[rank + 1]);
  });
  matrix.slab.global_nnz = sum_over_ranks(comm, matrix.slab.local.nnz());
  return matrix;
}

MatrixOnRanks load_matrix_from(MPI_Comm comm, const ProblemSpec& spec,
                               std::optional<hdf5::File>& file) {
  if (spec.generated()) return generate_matrix(comm, spec);
  const auto& source = std::get<SystemFile>(spec.source);
  StoredMatrix stored;
  collectively(comm, [&] {
    if (source.file.empty()) fail(ExitCode::usage, "the problem needs a file or a generator");
    file = hdf5::File::open(source.file);
    stored = find_matrix(*file, source.matrix);
  });
  stored.rows_together = spec.rows_together;
  return read_matrix(comm, stored);
}

const hdf5::File& file_with(const std::optional<hdf5::File>& file, const std::string& dataset) {
  if (!file)
    fail(ExitCode::usage, "a generated problem has no dataset {}; use ones, random or from-ones",
         dataset);
  return *file;
}

void make_rhs(const RightHandSide& rhs, const std::optional<hdf5::File>& file, const RowRange& rows,
              Problem& problem) {
  if (const auto* b = std::get_if<Dataset>(&rhs)) {
    problem.rhs = read_vectors(file_with(file, b->name), b->name, rows);
    return;
  }
  const Array<double> ones(rows.count, 1.0);
  switch (std::get<MadeRhs>(rhs)) {
    case MadeRhs::ones:
      problem.rhs = {ones};
      break;
    case MadeRhs::random:
      problem.rhs = {random_vector(rows, 1)};
      break;
    case MadeRhs::from_ones:
      problem.rhs = {row_sums(problem.matrix.local)};
      problem.x_exact = {ones};
      break;
  }
}

void read_known_vectors(const ProblemSpec& spec, const std::optional<hdf5::File>& file,
                        const RowRange& rows, Problem& problem) {
  const auto* source = std::get_if<SystemFile>(&spec.source);
  if (!source) return;
  if (!source->x0.empty()) {
    std::vector<Array<double>> x0 = read_vectors(*file, source->x0, rows);
    if (x0.size() != 1)
      fail(ExitCode::input, "{} in {} holds {} vectors; a start is one", source->x0, problem.name,
           x0.size());
    problem.x0 = std::move(x0.front());
  }
  if (!source->x_exact.empty()) {
    if (spec.rhs == RightHandSide(MadeRhs::from_ones))
      fail(ExitCode::usage,
           "rhs from-ones makes the solution 1; remove x_exact or name a dataset as rhs");
    problem.x_exact = read_vectors(*file, source->x_exact, rows);
    if (problem.x_exact.size() != problem.rhs.size())
      fail(ExitCode::input, "{} holds {} vectors, but there are {} right-hand sides in {}",
           source->x_exact, problem.x_exact.size(), problem.rhs.size(), problem.name);
  }
}

}  // namespace

std::string problem_name(const ProblemSpec& spec) {
  if (const auto* model = std::get_if<GenerateSpec>(&spec.source))
    return fmt::format("{}, n = {}", model->kind, model->n);
  const auto& source = std::get<SystemFile>(spec.source);
  return fmt::format("{}:{}", source.file.filename().string(), source.matrix);
}

MatrixOnRanks load_matrix(MPI_Comm comm, const ProblemSpec& spec) {
  std::optional<hdf5::File> file;
  return load_matrix_from(comm, spec, file);
}

Problem load_problem(MPI_Comm comm, const ProblemSpec& spec) {
  const Stopwatch stopwatch;
  std::optional<hdf5::File> file;
  MatrixOnRanks matrix = load_matrix_from(comm, spec, file);
  Problem problem;
  problem.name = problem_name(spec);
  problem.matrix = std::move(matrix.slab);
  problem.row_starts = std::move(matrix.row_starts);
  problem.duplicates_summed = matrix.duplicates_summed;
  const RowSlab& slab = problem.matrix;
  const RowRange rows{slab.first_row, slab.local.rows, slab.global_rows};
  collectively(comm, [&] {
    if (slab.global_rows != slab.global_cols)
      fail(ExitCode::input, "{} is {} x {}; a linear system needs a square matrix", problem.name,
           slab.global_rows, slab.global_cols);
    make_rhs(spec.rhs, file, rows, problem);
    read_known_vectors(spec, file, rows, problem);
  });
  problem.read_seconds = stopwatch.seconds();
  return problem;
}

}  // namespace trireme
