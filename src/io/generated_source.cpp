// SPDX-License-Identifier: BSD-3-Clause
// The rows are counted before they are made, so that each rank gets a share of equal work.
#include "io/generated_source.hpp"

#include <algorithm>
#include <utility>

#include "io/require_memory.hpp"
#include "io/row_cuts.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// From the lengths of rows in the middle: to count the nonzeros of all rows takes memory too.
double estimated_nonzeros(const GenerateSpec& spec, std::int64_t rows) {
  constexpr std::int64_t max_sampled = 1000;
  const std::int64_t first = rows / 2;
  const std::int64_t last = std::min(rows, first + max_sampled);
  double sampled = 0;
  for (const std::int32_t length : generator_row_lengths(spec, first, last)) sampled += length;
  const double per_row = sampled / static_cast<double>(std::max<std::int64_t>(1, last - first));
  return static_cast<double>(rows) * per_row;
}

// A lower bound of the bytes of the matrix.
double estimated_bytes(const GenerateSpec& spec, std::int64_t rows) {
  return csr_bytes(static_cast<double>(rows), estimated_nonzeros(spec, rows) / 2);
}

class GeneratedSource final : public SystemSource {
 public:
  GeneratedSource(MPI_Comm comm, GenerateSpec spec, std::string name)
      : comm_(comm), spec_(std::move(spec)), name_(std::move(name)) {}

  MatrixOnRanks read_matrix(const std::string& /*name*/, std::int64_t rows_together) override {
    const int rank = rank_of(comm_);
    const int ranks = size_of(comm_);
    std::int64_t rows = 0;
    double bytes = 0;
    collectively(comm_, [&] {
      rows = generator_shape(spec_).rows;
      bytes = estimated_bytes(spec_, rows);
    });
    require_memory(comm_, name_, bytes);
    Array<std::int32_t> lengths;
    collectively(comm_, [&] {
      lengths = generator_row_lengths(spec_, even_share(rows, ranks, rank),
                                      even_share(rows, ranks, rank + 1));
    });
    std::int64_t nnz = 0;
#pragma omp parallel for reduction(+ : nnz)
    for (const std::int32_t length : lengths) nnz += length;
    nnz = sum_over_ranks(comm_, nnz);
    require_memory(comm_, name_, csr_bytes(static_cast<double>(rows), static_cast<double>(nnz)));
    MatrixOnRanks matrix;
    matrix.row_starts = balanced_starts(comm_, rows, lengths, rows_together);
    collectively(comm_, [&] {
      matrix.slab = generate(spec_, matrix.row_starts[rank], matrix.row_starts[rank + 1]);
    });
    matrix.slab.global_nnz = sum_over_ranks(comm_, matrix.slab.local.nnz());
    matrix.in_stored_order = true;
    return matrix;
  }

  MatrixFacts facts(const std::string& /*name*/) override {
    MatrixFacts facts;
    collectively(comm_, [&] {
      const std::int64_t rows = generator_shape(spec_).rows;
      facts = {rows, estimated_nonzeros(spec_, rows), generator_unknowns_per_node(spec_)};
    });
    return facts;
  }

  // The coordinates of the nodes are the only vectors.
  bool has_vectors(const std::string& name) const override {
    return name == "/coordinates" && generator_unknowns_per_node(spec_) > 1;
  }

  VectorShape shape_of(const std::string& name) override {
    VectorShape shape;
    collectively(comm_, [&] {
      require_vectors(name);
      shape = {generator_shape(spec_).rows / generator_unknowns_per_node(spec_), 3};
    });
    return shape;
  }

  std::vector<Array<double>> read_vectors(const std::string& name, const RowRange& rows) override {
    std::vector<Array<double>> vectors;
    collectively(comm_, [&] {
      require_vectors(name);
      vectors = generator_coordinates(spec_, rows.first, rows.first + rows.count);
    });
    return vectors;
  }

 private:
  void require_vectors(const std::string& name) const {
    if (!has_vectors(name))
      fail(ExitCode::usage, "a generated problem has no dataset {}; use ones, random or from-ones",
           name);
  }

  MPI_Comm comm_;
  GenerateSpec spec_;
  std::string name_;
};

}  // namespace

std::unique_ptr<SystemSource> generated_source(MPI_Comm comm, const GenerateSpec& spec,
                                               const std::string& name) {
  return std::make_unique<GeneratedSource>(comm, spec, name);
}

}  // namespace trireme
