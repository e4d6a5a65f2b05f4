// SPDX-License-Identifier: BSD-3-Clause
// How columns come into the block of a lockstep solve and leave it.
#include "solvers/executors/lockstep_block.hpp"

#include <algorithm>
#include <utility>

namespace trireme::solvers {

LockstepBlock::LockstepBlock(std::int64_t rows, std::span<const std::int32_t> order)
    : rows_(rows), order_(order) {}

void LockstepBlock::reserve(std::int64_t width, int vectors) {
  constexpr std::int64_t kLine = 64 / sizeof(double);
  // Each vector begins with a cache line, so that a row of eight columns is one line.
  const std::int64_t lines = (rows_ * width + kLine - 1) / kLine;
  const auto size = static_cast<std::size_t>(lines * kLine * vectors + kLine);
  stride_ = lines * kLine;
  vectors_ = vectors;
  if (memory_.size() >= size) return;
  Array<double>().swap(memory_);
  memory_.resize(size);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  first_ = memory_.data() + (64 - address % 64) % 64 / sizeof(double);
  // The first touch places each row's memory near the thread that will work on the row.
  for (int k = 0; k < vectors; ++k) {
    double* const to = vector(k);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < stride_; ++i) to[i] = 0;
  }
}

void LockstepBlock::bring(std::vector<LockstepColumn> columns, MultiVector<const double> b,
                          MultiVector<double> x, bool zero_guess) {
  columns_ = std::move(columns);
  for (LockstepColumn& column : columns_) column.takes_part = true;
  ended_.clear();
  callers_x_ = x;
  const MultiVector<double> own_b = side_by_side(vector(0), rows_, width());
  const MultiVector<double> own_x = side_by_side(vector(1), rows_, width());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows_; ++i) {
    const std::int64_t row = order_.empty() ? i : order_[i];
    for (std::int64_t j = 0; j < own_b.width; ++j) {
      own_b(i, j) = b(row, columns_[j].number);
      own_x(i, j) = zero_guess ? 0 : x(row, columns_[j].number);
    }
  }
}

void LockstepBlock::leave(const std::function<bool(const State&)>& ended) {
  std::vector<std::int64_t> leaving, remaining;
  for (std::int64_t j = 0; j < width(); ++j)
    (ended(columns_[j].state) ? leaving : remaining).push_back(j);
  if (leaving.empty()) return;
  give_back(leaving);
  keep(remaining);
  std::vector<LockstepColumn> columns;
  for (const std::int64_t j : leaving) ended_.push_back(columns_[j]);
  for (const std::int64_t j : remaining) columns.push_back(columns_[j]);
  columns_ = std::move(columns);
}

void LockstepBlock::give_back(std::span<const std::int64_t> places) {
  const MultiVector<double> own = side_by_side(vector(1), rows_, width());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows_; ++i) {
    const std::int64_t row = order_.empty() ? i : order_[i];
    for (const std::int64_t j : places) callers_x_(row, columns_[j].number) = own(i, j);
  }
}

// The places are ascending, so that no element is overwritten before it has been moved.
void LockstepBlock::keep(std::span<const std::int64_t> places) {
  const std::int64_t before = width(), after = std::ssize(places);
  if (after == 0) return;
#pragma omp parallel for schedule(dynamic, 1)
  for (int k = 0; k < vectors_; ++k) {
    const double* from = vector(k);
    double* to = vector(k);
    for (std::int64_t i = 0; i < rows_; ++i, from += before)
      for (const std::int64_t j : places) *to++ = from[j];
  }
}

}  // namespace trireme::solvers
