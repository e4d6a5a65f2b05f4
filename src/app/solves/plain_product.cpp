// SPDX-License-Identifier: BSD-3-Clause
// Row loops over the local and the ghost block; the halo by PetscSF from the global ids of the
// ghosts.
#include "app/solves/plain_product.hpp"

#include <algorithm>
#include <utility>

#include "parallel/collective.hpp"

namespace trireme {
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
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 0;
  add_plain_product(matrix_->blocks.local, x, y);
  petsc_check(PetscSFBcastEnd(halo_, MPI_DOUBLE, x.data(), ghosts_.data(), MPI_REPLACE));
  add_plain_product(matrix_->blocks.ghost, ghosts_, y);
}

void PlainProduct::subtract_product(std::span<const double> b, std::span<const double> x) {
  residual_.resize(b.size());
  multiply(x, residual_);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < residual_.size(); ++i) residual_[i] = b[i] - residual_[i];
}

double PlainProduct::residual_norm(std::span<const double> b, std::span<const double> x) {
  subtract_product(b, x);
  return norm(residual_);
}

Residual PlainProduct::residual(std::span<const double> b, std::span<const double> x) {
  subtract_product(b, x);
  const RowSizes& sizes = row_sizes(*matrix_);
  Residual result =
      measured(sizes, b, residual_, [this](std::span<const double> v) { return norm(v); });
  if (!result.of_rows) return result;
  Residual worst = worst_row_of(*matrix_, sizes, residual_);
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
  double sum = plain_dot(u, v);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, matrix_->comm);
  return sum;
}

double PlainProduct::norm(std::span<const double> v) const {
  return norm_over_ranks(matrix_->comm, v);
}

Residual PlainProduct::residual_alone(std::span<const double> values, std::span<const double> b,
                                      std::span<const double> x) {
  return plain_residual(*matrix_, values, row_sizes_alone(matrix_->blocks.local, values), b, x,
                        residual_alone_);
}

}  // namespace trireme
