// SPDX-License-Identifier: BSD-3-Clause
// Finds a scaling, and applies it to vectors.
#include "distributed/scaling/system_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "distributed/matrix_look.hpp"
#include "distributed/scaling/scale_exponents.hpp"
#include "parallel/collective.hpp"
#include "sparse/transversal.hpp"

namespace trireme {
namespace {

ScaleExponents zeros(std::int64_t rows) {
  const auto count = static_cast<std::size_t>(rows);
  return {.rows = Array<double>(count, 0.0), .columns = Array<double>(count, 0.0)};
}

Array<std::int32_t> rounded(const Array<double>& exponents) {
  Array<std::int32_t> result(exponents.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<std::int32_t>(std::lrint(exponents[i]));
  return result;
}

// What a sum over the entries says of a matrix whose entries have any size is what it says of the
// largest ones. So their logarithms, all of which have like sizes, must look symmetric too.
// Collective.
bool looks_symmetric_in_any_scale(const DistributedMatrix& matrix) {
  constexpr double kAboveAll = 2000;  // log2 of a magnitude is within (-1075, 1024)
  if (const MatrixLook& look = look_at(matrix); !look.nearly_symmetric)
    return look.symmetric_values;
  DistributedMatrix logarithms;
  collectively(matrix.comm, [&] {
    logarithms = matrix;
    logarithms.on_device.reset();
    logarithms.look = {};
    for (CsrMatrix<double>* const block : {&logarithms.blocks.local, &logarithms.blocks.ghost})
      for (double& value : block->values)
        if (value != 0) value = std::copysign(kAboveAll + std::log2(std::abs(value)), value);
  });
  return look_at(logarithms).symmetric();
}

// The matching of this rank's diagonal block. Collective.
Transversal match(const DistributedMatrix& matrix) {
  Transversal found;
  collectively(matrix.comm, [&] {
    if (matrix.blocks.nnz() > kMostNonzerosOfBlock)
      fail(ExitCode::resource,
           "solver.scaling: matching takes at most 2^31-1 nonzeros per rank, and this one has {}; "
           "use more ranks, or scaling: ruiz",
           matrix.blocks.nnz());
    found = maximum_product_transversal(matrix.blocks.local.view());
  });
  return found;
}

void count_unmatched(const DistributedMatrix& matrix, const StructuralRank& structure,
                     SystemScaling& scaling) {
  const auto& here = structure.unmatched_rows;
  scaling.unmatched_rows = sum_over_ranks(matrix.comm, std::ssize(here));
  std::int64_t first =
      here.empty() ? std::numeric_limits<std::int64_t>::max() : matrix.callers_row(here.front());
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, matrix.comm);
  if (scaling.unmatched_rows > 0) scaling.first_unmatched = first;
}

// The exponents of a matching; its order of columns and its rank go to `scaling`. Collective.
ScaleExponents exponents_of_matching(const DistributedMatrix& matrix, SystemScaling& scaling) {
  Transversal found = match(matrix);
  count_unmatched(matrix, found.structure, scaling);
  ScaleExponents exponents{
      .rows = Array<double>(found.row_log2.begin(), found.row_log2.end()),
      .columns = Array<double>(found.column_log2.begin(), found.column_log2.end())};
  if (scaling.symmetric) {
    for (std::size_t i = 0; i < exponents.rows.size(); ++i)
      exponents.rows[i] = (exponents.rows[i] + exponents.columns[i]) / 2;
    exponents.columns = exponents.rows;
  } else {
    scaling.column_order.assign(found.column_of_row.begin(), found.column_of_row.end());
  }
  if (size_of(matrix.comm) == 1) return exponents;
  return equilibrated(matrix, scaling.symmetric, std::move(exponents));
}

}  // namespace

SystemScaling find_scaling(Scaling kind, const DistributedMatrix& matrix) {
  SystemScaling scaling;
  scaling.symmetric = kind != Scaling::none && looks_symmetric_in_any_scale(matrix);
  ScaleExponents exponents = zeros(matrix.local_rows());
  if (kind == Scaling::diagonal)
    exponents = exponents_of_diagonal(matrix);
  else if (kind == Scaling::ruiz)
    exponents = equilibrated(matrix, scaling.symmetric, std::move(exponents));
  else if (kind == Scaling::matching)
    exponents = exponents_of_matching(matrix, scaling);
  scaling.rows = rounded(exponents.rows);
  scaling.columns = rounded(exponents.columns);
  return scaling;
}

Array<double> SystemScaling::to_rows(std::span<const double> b, int exponent) const {
  Array<double> result(b.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < b.size(); ++i) result[i] = std::ldexp(b[i], rows[i] + exponent);
  return result;
}

Array<double> SystemScaling::to_columns(std::span<const double> x, int exponent,
                                        std::int64_t width) const {
  Array<double> result(x.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t j = column_order.empty() ? i : column_order[i];
    for (std::int64_t k = 0; k < width; ++k)
      result[i * width + k] = std::ldexp(x[j * width + k], exponent - columns[j]);
  }
  return result;
}

Array<double> SystemScaling::from_columns(std::span<const double> y, int exponent) const {
  Array<double> result(y.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t j = column_order.empty() ? i : column_order[i];
    result[j] = std::ldexp(y[i], exponent + columns[j]);
  }
  return result;
}

}  // namespace trireme
