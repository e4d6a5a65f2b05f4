// SPDX-License-Identifier: BSD-3-Clause
// Transfers between levels, and the product with the dense inverse of the coarsest one.
#include "multigrid/cycle/host_cycle.hpp"

#include <cstdint>

namespace trireme::multigrid {
namespace {

// This rank's rows of a vector of the level.
std::span<double> own_part(const Level& level, Array<double>& vector) {
  const std::span<double> whole(vector);
  return level.replication ? level.replication->part(whole) : whole;
}

}  // namespace

HostCycle::HostCycle(std::span<const std::unique_ptr<Level>> levels, bool transposed)
    : levels_(levels), transposed_(transposed) {
  if (!transposed) return;
  for (const auto& level : levels)
    if (level->op && !level->transposed)
      level->transposed = std::make_unique<TransposedProduct>(level->matrix, level->precision);
}

void HostCycle::restrict_from(int l, const double* r) const {
  const Level& fine = *levels_[l];
  Level& coarse = *levels_[l + 1];
  const std::span<const double> residual{r, static_cast<std::size_t>(fine.matrix->local_rows())};
  const std::span<double> b = own_part(coarse, coarse.b);
  if (CoarseVector* const vector = fine.transfer->vector.get()) {
    fine.transfer->restrict_to->multiply(residual, vector->values(), Accumulate::no);
    vector->add_up(b);
  } else {
    fine.transfer->restrict_to->multiply(residual, b, Accumulate::no);
  }
  if (coarse.replication) coarse.replication->gather(coarse.b);
}

void HostCycle::correct(int l) const {
  const Level& fine = *levels_[l];
  Level& coarse = *levels_[l + 1];
  std::span<const double> correction = own_part(coarse, coarse.x);
  if (CoarseVector* const vector = fine.transfer->vector.get()) {
    if (coarse.replication)
      vector->take_from_whole(coarse.x);
    else
      vector->take(correction);
    correction = vector->values();
  }
  fine.transfer->prolong->multiply(
      correction, {fine.in_cycle.x, static_cast<std::size_t>(fine.matrix->local_rows())},
      Accumulate::yes);
}

void HostCycle::solve(int l) const {
  const Level& level = *levels_[l];
  const std::int64_t rows = level.inverse.rows;
  const double* inverse = level.inverse.values.data();
  const double* b = level.in_cycle.b;
  if (transposed_) {
#pragma omp parallel for schedule(static) if (rows > 128)
    for (std::int64_t j = 0; j < rows; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += inverse[i * rows + j] * b[i];
      level.in_cycle.x[j] = sum;
    }
    return;
  }
#pragma omp parallel for schedule(static) if (rows > 128)
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < rows; ++j) sum += inverse[i * rows + j] * b[j];
    level.in_cycle.x[i] = sum;
  }
}

}  // namespace trireme::multigrid
