// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/plain_residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace trireme {

void add_plain_product(const CsrView<double>& a, std::span<const double> x, std::span<double> y) {
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = y[row];
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      sum += a.values[k] * x[a.col_idx[k]];
    y[row] = sum;
  }
}

void add_plain_product(const CsrMatrix<double>& a, std::span<const double> x, std::span<double> y) {
  for (const RowBlock<double>& block : a.blocks())
    add_plain_product(block.csr, x, y.subspan(block.first_row, block.csr.rows));
}

double plain_dot(std::span<const double> u, std::span<const double> v) {
  // The pieces make the sum the same for any number of threads.
  constexpr std::int64_t kPiece = 1 << 14;
  const std::int64_t rows = std::ssize(u);
  const std::int64_t pieces = (rows + kPiece - 1) / kPiece;
  Array<double> of_piece(pieces);
#pragma omp parallel for schedule(static)
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    double sum = 0;
    for (std::int64_t i = piece * kPiece; i < std::min(rows, (piece + 1) * kPiece); ++i)
      sum += u[i] * v[i];
    of_piece[piece] = sum;
  }
  return std::accumulate(of_piece.begin(), of_piece.end(), 0.0);
}

Array<double> in_scale_of_rows(const RowSizes& sizes, std::span<const double> v) {
  Array<double> scaled(v.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < v.size(); ++i) scaled[i] = sizes.inverse[i] * v[i];
  return scaled;
}

namespace {

// The largest magnitude, and 1 where a number is not finite.
using Extremes = std::array<double, 2>;

// `add` makes a sum, and `agree` extremes, those of all ranks.
template <class Add, class Agree>
double norm_of_all(std::span<const double> v, const Add& add, const Agree& agree) {
  const auto squares = [&](std::span<const double> u) {
    double sum = plain_dot(u, u);
    add(sum);
    return sum;
  };
  const double sum = squares(v);
  if (std::isfinite(sum) && sum > kAboveUnderflow) return std::sqrt(sum);
  Extremes extremes = {0, 0};
  for (const double value : v) {
    if (!std::isfinite(value)) extremes[1] = 1;
    extremes[0] = std::max(extremes[0], std::abs(value));
  }
  agree(extremes);
  if (extremes[1] != 0) return std::numeric_limits<double>::quiet_NaN();
  if (extremes[0] == 0) return 0;
  int exponent = 0;
  std::frexp(extremes[0], &exponent);
  Array<double> scaled(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) scaled[i] = std::ldexp(v[i], -exponent);
  return std::ldexp(std::sqrt(squares(scaled)), exponent);
}

}  // namespace

double plain_norm(std::span<const double> v) {
  return norm_of_all(
      v, [](double&) {}, [](Extremes&) {});
}

double norm_over_ranks(MPI_Comm comm, std::span<const double> v) {
  return norm_of_all(
      v, [comm](double& sum) { MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm); },
      [comm](Extremes& extremes) {
        MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
      });
}

Residual measured(const RowSizes& sizes, std::span<const double> b, std::span<const double> r,
                  const std::function<double(std::span<const double>)>& norm) {
  Residual result{.norm = norm(r)};
  const double of_b = sizes.differ ? norm(in_scale_of_rows(sizes, b)) : 0;
  if (of_b > 0) result.of_rows = norm(in_scale_of_rows(sizes, r)) / of_b;
  return result;
}

Residual worst_row_of(const DistributedMatrix& matrix, const RowSizes& sizes,
                      std::span<const double> r) {
  Residual worst;
  double largest = -1;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double part = std::abs(sizes.inverse[i] * r[i]);
    if (!(part > largest)) continue;
    largest = part;
    worst.worst_row = matrix.callers_row(static_cast<std::int64_t>(i));
    worst.worst_size = 1 / sizes.inverse[i];
  }
  worst.norm = largest;
  return worst;
}

Residual plain_residual(const DistributedMatrix& matrix, std::span<const double> values,
                        const RowSizes& sizes, std::span<const double> b, std::span<const double> x,
                        Array<double>& r) {
  r.resize(b.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = 0;
  for (const RowBlock<double>& block : matrix.blocks.local.blocks()) {
    CsrView<double> rows = block.csr;
    rows.values = values.subspan(block.first_entry, rows.nnz());
    add_plain_product(rows, x, std::span(r).subspan(block.first_row, rows.rows));
  }
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  Residual result = measured(sizes, b, r, plain_norm);
  if (!result.of_rows) return result;
  const Residual worst = worst_row_of(matrix, sizes, r);
  result.worst_row = worst.worst_row;
  result.worst_size = worst.worst_size;
  return result;
}

}  // namespace trireme
