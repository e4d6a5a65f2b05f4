// SPDX-License-Identifier: BSD-3-Clause
// Matrices on ranks, dense copies of them, and vectors.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/joined_rows.hpp"
#include "parallel/collective.hpp"
#include "sparse/generators.hpp"

namespace trireme::test {

inline std::vector<std::int64_t> even_starts(MPI_Comm comm, std::int64_t rows) {
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= size_of(comm); ++r) starts.push_back(rows * r / size_of(comm));
  return starts;
}

// A(i, j) = entry(i, j); what is 0 is not stored. Each rank makes its own rows.
inline std::shared_ptr<DistributedMatrix> distributed(
    MPI_Comm comm, std::int64_t rows,
    const std::function<double(std::int64_t, std::int64_t)>& entry) {
  std::vector<std::int64_t> starts = even_starts(comm, rows);
  RowSlab slab{.global_rows = rows, .global_cols = rows, .first_row = starts[rank_of(comm)]};
  CsrMatrix<double>& local = slab.local;
  local.rows = starts[rank_of(comm) + 1] - slab.first_row;
  local.cols = rows;
  local.row_ptr.assign(1, 0);
  for (std::int64_t i = slab.first_row; i < slab.first_row + local.rows; ++i) {
    for (std::int64_t j = 0; j < rows; ++j)
      if (const double value = entry(i, j); value != 0) {
        local.col_idx.push_back(static_cast<std::int32_t>(j));
        local.values.push_back(value);
      }
    local.row_ptr.push_back(static_cast<std::int32_t>(local.values.size()));
  }
  slab.global_nnz = sum_over_ranks(comm, local.nnz());
  return distribute(comm, std::move(slab), std::move(starts));
}

inline std::shared_ptr<DistributedMatrix> generated(MPI_Comm comm, const std::string& kind,
                                                    std::int64_t n) {
  const GenerateSpec spec{.kind = kind, .n = n};
  std::vector<std::int64_t> starts = even_starts(comm, generator_shape(spec).rows);
  RowSlab slab = generate(spec, starts[rank_of(comm)], starts[rank_of(comm) + 1]);
  slab.global_nnz = sum_over_ranks(comm, slab.local.nnz());
  return distribute(comm, std::move(slab), std::move(starts));
}

// Row by row, whole on every rank.
using Dense = std::vector<std::vector<double>>;

inline Dense dense(MPI_Comm comm, std::int64_t first_row, std::int64_t rows,
                   const CsrMatrix<double>& own) {
  std::vector<double> all(rows * rows, 0.0);
  for (std::int64_t i = 0; i < own.rows; ++i)
    for (std::int32_t k = own.row_ptr[i]; k < own.row_ptr[i + 1]; ++k)
      all[(first_row + i) * rows + own.col_idx[k]] += own.values[k];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, comm);
  Dense result;
  for (std::int64_t i = 0; i < rows; ++i)
    result.emplace_back(all.begin() + i * rows, all.begin() + (i + 1) * rows);
  return result;
}

inline Dense dense(const DistributedMatrix& a) {
  return dense(a.comm, a.first_row(), a.global_rows(), joined_rows(a));
}

// Uniform in (-0.5, 0.5); the number of a row does not depend on the rank that has it.
inline Array<double> random_rows(const DistributedMatrix& a, std::uint64_t seed) {
  Array<double> x(a.local_rows());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = to_unit(split_mix(static_cast<std::uint64_t>(a.first_row()) + i, seed)) - 0.5;
  return x;
}

inline double dot(MPI_Comm comm, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

}  // namespace trireme::test
