// SPDX-License-Identifier: BSD-3-Clause
// Row loops over the local and the ghost block; the halo by PetscSF from the global ids of the
// ghosts.
#include "app/solves/plain_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

void add_product(const CsrView<double>& a, std::span<const double> x, std::span<double> y) {
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = y[row];
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      sum += a.values[k] * x[a.col_idx[k]];
    y[row] = sum;
  }
}

void add_product(const CsrMatrix<double>& a, std::span<const double> x, std::span<double> y) {
  for (const RowBlock<double>& block : a.blocks())
    add_product(block.csr, x, y.subspan(block.first_row, block.csr.rows));
}

double local_dot(std::span<const double> u, std::span<const double> v) {
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

// The largest magnitude, and 1 where a number is not finite.
using Extremes = std::array<double, 2>;

// The norm of v, of which `squares` gives v.v over all ranks and `agree` the extremes of all ranks.
template <class Squares, class Agree>
double norm_of(std::span<const double> v, const Squares& squares, const Agree& agree) {
  // Above this sum, the loss by squares that underflow (below 1e-308) is negligible.
  constexpr double kAboveUnderflow = 1e-250;
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

PlainProduct::PlainProduct(std::shared_ptr<const DistributedMatrix> matrix)
    : matrix_(std::move(matrix)), ghosts_(matrix_->blocks.ghost_columns.size()) {
  const auto& ids = matrix_->blocks.ghost_columns;
  Array<PetscInt> roots(ids.size());
  std::ranges::transform(ids, roots.begin(),
                         [](std::int64_t id) { return static_cast<PetscInt>(id); });
  PetscLayout layout = nullptr;
  petsc_check(PetscLayoutCreate(matrix_->comm, &layout));
  petsc_check(PetscLayoutSetLocalSize(layout, static_cast<PetscInt>(matrix_->local_rows())));
  petsc_check(PetscLayoutSetUp(layout));
  petsc_check(PetscSFCreate(matrix_->comm, halo_.put()));
  petsc_check(PetscSFSetGraphLayout(halo_, layout, static_cast<PetscInt>(roots.size()), nullptr,
                                    PETSC_COPY_VALUES, roots.data()));
  petsc_check(PetscSFSetUp(halo_));
  petsc_check(PetscLayoutDestroy(&layout));
}

void PlainProduct::multiply(std::span<const double> x, std::span<double> y) {
  petsc_check(PetscSFBcastBegin(halo_, MPI_DOUBLE, x.data(), ghosts_.data(), MPI_REPLACE));
  std::fill(y.begin(), y.end(), 0.0);
  add_product(matrix_->blocks.local, x, y);
  petsc_check(PetscSFBcastEnd(halo_, MPI_DOUBLE, x.data(), ghosts_.data(), MPI_REPLACE));
  add_product(matrix_->blocks.ghost, ghosts_, y);
}

double PlainProduct::residual_norm(std::span<const double> b, std::span<const double> x) {
  residual_.resize(b.size());
  multiply(x, residual_);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < residual_.size(); ++i) residual_[i] = b[i] - residual_[i];
  return norm(residual_);
}

Residual PlainProduct::worst_of(const RowSizes& sizes, std::span<const double> r) const {
  Residual worst;
  double largest = -1;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double part = std::abs(sizes.inverse[i] * r[i]);
    if (!(part > largest)) continue;
    largest = part;
    worst.worst_row = matrix_->callers_row(static_cast<std::int64_t>(i));
    worst.worst_size = 1 / sizes.inverse[i];
  }
  worst.norm = largest;
  return worst;
}

Residual PlainProduct::residual(std::span<const double> b, std::span<const double> x) {
  Residual result{.norm = residual_norm(b, x)};
  const RowSizes& sizes = row_sizes(*matrix_);
  if (!sizes.differ) return result;
  const double of_b = norm(in_scale_of_rows(sizes, b));
  if (!(of_b > 0)) return result;
  result.of_rows = norm(in_scale_of_rows(sizes, residual_)) / of_b;
  Residual worst = worst_of(sizes, residual_);
  struct {
    double value;
    int rank;
  } found = {worst.norm, rank_of(matrix_->comm)};
  MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, matrix_->comm);
  MPI_Bcast(&worst.worst_row, 1, MPI_INT64_T, found.rank, matrix_->comm);
  MPI_Bcast(&worst.worst_size, 1, MPI_DOUBLE, found.rank, matrix_->comm);
  result.worst_row = worst.worst_row;
  result.worst_size = worst.worst_size;
  return result;
}

double PlainProduct::dot(std::span<const double> u, std::span<const double> v) const {
  double sum = local_dot(u, v);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, matrix_->comm);
  return sum;
}

double PlainProduct::norm(std::span<const double> v) const {
  return norm_of(
      v, [this](std::span<const double> u) { return dot(u, u); },
      [this](Extremes& extremes) {
        MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_DOUBLE, MPI_MAX, matrix_->comm);
      });
}

double PlainProduct::norm_alone(std::span<const double> v) {
  return norm_of(
      v, [](std::span<const double> u) { return local_dot(u, u); }, [](Extremes&) {});
}

Residual PlainProduct::residual_alone(std::span<const double> values, std::span<const double> b,
                                      std::span<const double> x) {
  Array<double>& residual = residual_alone_;
  residual.resize(b.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = 0;
  for (const RowBlock<double>& block : matrix_->blocks.local.blocks()) {
    CsrView<double> rows = block.csr;
    rows.values = values.subspan(block.first_entry, rows.nnz());
    add_product(rows, x, std::span(residual).subspan(block.first_row, rows.rows));
  }
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = b[i] - residual[i];
  Residual result{.norm = norm_alone(residual)};
  const RowSizes sizes = row_sizes_alone(matrix_->blocks.local, values);
  const double of_b = sizes.differ ? norm_alone(in_scale_of_rows(sizes, b)) : 0;
  if (!(of_b > 0)) return result;
  const Residual worst = worst_of(sizes, residual);
  result.of_rows = norm_alone(in_scale_of_rows(sizes, residual)) / of_b;
  result.worst_row = worst.worst_row;
  result.worst_size = worst.worst_size;
  return result;
}

}  // namespace trireme
