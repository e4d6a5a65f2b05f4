// SPDX-License-Identifier: BSD-3-Clause
// problem import: a system in a file of any other format becomes an HDF5 file.
#include <fmt/format.h>
#include <mpi.h>

#include <memory>

#include "base/overwriting.hpp"
#include "base/printable.hpp"
#include "base/stopwatch.hpp"
#include "commands.hpp"
#include "io/formats.hpp"
#include "io/output_file.hpp"
#include "io/right_hand_side.hpp"
#include "io/vectors.hpp"
#include "parallel/collective.hpp"

namespace trireme::problem_app {
namespace {

struct Vectors {
  std::string origin;  // of b
  std::vector<Array<double>> b;
  std::vector<Array<double>> x_exact;
};

Vectors make_vectors(const ImportOptions& options, const CsrMatrix<double>& matrix,
                     SystemSource& file) {
  const RowRange rows{0, matrix.rows, matrix.rows};
  Vectors vectors;
  if (options.rhs.empty()) {
    if (!file.has_vectors(kUsualB)) return vectors;
    vectors.b = file.read_vectors(kUsualB, rows);
    vectors.origin = file.origin_of(kUsualB);
    return vectors;
  }
  vectors.origin = options.rhs;
  const auto made = choice_of<MadeRhs>(options.rhs);
  if (!made) {
    const VectorFile b = parse_vector_file(options.rhs);
    if (!std::filesystem::exists(b.file))
      fail(ExitCode::usage, "--rhs {} must be ones, random, from-ones, or a file: there is no {}",
           options.rhs, b.file.string());
    vectors.b = open_vectors(MPI_COMM_WORLD, b.file)->read_vectors(b.name, rows);
  } else if (*made == MadeRhs::ones) {
    vectors.b.emplace_back(matrix.rows, 1.0);
  } else if (*made == MadeRhs::random) {
    vectors.b.push_back(random_vector(rows, 1));
  } else {
    vectors.b.push_back(row_sums(matrix));
    vectors.x_exact.emplace_back(matrix.cols, 1.0);
  }
  return vectors;
}

std::unique_ptr<SystemSource> open_foreign(const std::filesystem::path& path) {
  const InputFormat& format = format_of(MPI_COMM_WORLD, path);
  if (format.content == Content::named_objects)
    fail(ExitCode::input, "{} is an {} file already: solve reads it as it is", path.string(),
         format.name);
  return format.open(MPI_COMM_WORLD, path);
}

}  // namespace

void import(const ImportOptions& options) {
  const Stopwatch stopwatch;
  if (size_of(MPI_COMM_WORLD) != 1)
    fail(ExitCode::usage,
         "problem import runs on one rank with all threads; start it without mpirun");
  refuse_overwriting({options.input, parse_vector_file(options.rhs).file}, {options.output});
  const std::unique_ptr<SystemSource> input = open_foreign(options.input);
  const RowSlab slab = input->read_matrix("", 1).slab;
  const Vectors vectors = make_vectors(options, slab.local, *input);
  const double read_seconds = stopwatch.seconds();

  OutputFile output(MPI_COMM_WORLD, options.output);
  output.write_matrix(options.matrix, slab);
  if (!vectors.b.empty())
    output.write_vectors(kUsualB, {0, slab.global_rows, slab.global_rows}, vectors.b);
  if (!vectors.x_exact.empty())
    output.write_vectors("/x_exact", {0, slab.global_cols, slab.global_cols}, vectors.x_exact);
  output.write_attribute("source", options.input.filename().string());
  output.commit();
  print_text(
      stdout,
      fmt::format(
          "{}: {} x {}, {} nonzeros in {}{}; read {:.2f} s, written {:.2f} s\n",
          options.output.string(), slab.global_rows, slab.global_cols, slab.global_nnz,
          options.matrix,
          vectors.b.empty() ? "" : fmt::format(", right-hand side in /b ({})", vectors.origin),
          read_seconds, stopwatch.seconds() - read_seconds));
}

}  // namespace trireme::problem_app
