// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/growing_row.hpp"

#include <algorithm>
#include <cmath>

namespace trireme::inverses {
namespace {

// A place that says: among the candidates.
constexpr std::int32_t kCandidate = -1;

}  // namespace

GrowingRow::GrowingRow(const ScaledRows& a)
    : a_(&a), place_(a.rows(), 0), gradient_(a.rows(), 0.0) {}

void GrowingRow::begin(std::int64_t i) {
  row_ = i;
  pattern_.clear();
  factor_.clear();
  z_.clear();
  d_ = 1;
}

bool GrowingRow::add(std::int32_t column) {
  const std::size_t m = pattern_.size();
  new_row_.assign(m, 0.0);
  const auto columns = a_->columns(column);
  if (std::ssize(columns) <= kLongRow) {
    const auto values = a_->values(column);
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (const std::int32_t place = place_[columns[k]]; place > 0) new_row_[place - 1] = values[k];
  } else {
    for (std::size_t k = 0; k < m; ++k) new_row_[k] = a_->value(column, pattern_[k]);
  }
  double pivot = 1;
  double right = -a_->value(row_, column);
  const double* of_row = factor_.data();
  for (std::size_t k = 0; k < m; ++k) {
    double sum = new_row_[k];
    for (std::size_t j = 0; j < k; ++j) sum -= of_row[j] * new_row_[j];
    sum /= of_row[k];
    new_row_[k] = sum;
    pivot -= sum * sum;
    right -= sum * z_[k];
    of_row += k + 1;
  }
  if (!(pivot > kLeastPivot)) return false;
  const double root = std::sqrt(pivot);
  const double z = right / root;
  if (!(d_ - z * z > kLeastPivot)) return false;
  d_ -= z * z;
  z_.push_back(z);
  factor_.insert(factor_.end(), new_row_.begin(), new_row_.end());
  factor_.push_back(root);
  pattern_.push_back(column);
  place_[column] = static_cast<std::int32_t>(pattern_.size());
  return true;
}

// L^T y = z.
void GrowingRow::solve() {
  y_ = z_;
  for (std::size_t k = y_.size(); k-- > 0;) {
    const double* const of_row = factor_.data() + k * (k + 1) / 2;
    y_[k] /= of_row[k];
    for (std::size_t j = 0; j < k; ++j) y_[j] -= of_row[j] * y_[k];
  }
}

void GrowingRow::add_to_gradient(std::int64_t row, double factor) {
  const auto columns = a_->columns(row);
  const auto values = a_->values(row);
  const auto end = static_cast<std::ptrdiff_t>(
      std::ranges::lower_bound(columns, static_cast<std::int32_t>(row_)) - columns.begin());
  const auto take = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    for (std::ptrdiff_t k = from; k < to; ++k) {
      std::int32_t& place = place_[columns[k]];
      if (place == 0) {
        place = kCandidate;
        candidates_.push_back(columns[k]);
      }
      gradient_[columns[k]] += factor * values[k];
    }
  };
  if (end <= kLongRow) return take(0, end);
  take(0, kLongRow / 2);
  take(end - kLongRow / 2, end);
}

void GrowingRow::grow(std::int64_t i, std::int32_t steps) {
  begin(i);
  for (std::int32_t step = 0; step < steps; ++step) {
    solve();
    add_to_gradient(i, 1);
    for (std::size_t k = 0; k < y_.size(); ++k) add_to_gradient(pattern_[k], y_[k]);
    const auto by_gain = [&](std::int32_t column) {
      return std::pair(-std::abs(gradient_[column]), column);
    };
    const auto last =
        std::partition(candidates_.begin(), candidates_.end(), [&](std::int32_t column) {
          place_[column] = 0;
          return gradient_[column] * gradient_[column] >= kLeastGain * d_;
        });
    const auto count = std::min<std::ptrdiff_t>(kEntriesPerStep, last - candidates_.begin());
    std::ranges::partial_sort(candidates_.begin(), candidates_.begin() + count, last, {}, by_gain);
    for (const std::int32_t column : pattern_) gradient_[column] = 0;
    bool grew = false;
    for (std::ptrdiff_t k = 0; k < count; ++k) grew = add(candidates_[k]) || grew;
    for (const std::int32_t column : candidates_) gradient_[column] = 0;
    candidates_.clear();
    if (!grew) break;
  }
  end();
}

void GrowingRow::fill(std::int64_t i, std::span<const std::int32_t> pattern) {
  begin(i);
  std::vector<std::int32_t> left;
  for (const std::int32_t column : pattern)
    if (!add(column)) left.push_back(column);
  end();
  if (left.empty()) return;
  for (const std::int32_t column : left) entries_.emplace_back(column, 0.0);
  std::ranges::sort(entries_);
}

void GrowingRow::end() {
  solve();
  const double root = std::sqrt(d_);
  entries_.clear();
  for (std::size_t k = 0; k < pattern_.size(); ++k) {
    entries_.emplace_back(pattern_[k], y_[k] / root);
    place_[pattern_[k]] = 0;
  }
  std::ranges::sort(entries_);
}

double GrowingRow::last() const { return 1 / std::sqrt(d_); }

}  // namespace trireme::inverses
