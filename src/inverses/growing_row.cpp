// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/growing_row.hpp"

#include <algorithm>
#include <cmath>

#include "inverses/row_rules.hpp"

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
  cholesky_.clear();
  d_ = 1;
}

bool GrowingRow::add(std::int32_t column) {
  const std::size_t m = pattern_.size();
  std::vector<double>& products = cholesky_.next_row();
  const auto columns = a_->columns(column);
  if (std::ssize(columns) <= kLongRow) {
    const auto values = a_->values(column);
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (const std::int32_t place = place_[columns[k]]; place > 0) products[place - 1] = values[k];
  } else {
    for (std::size_t k = 0; k < m; ++k) products[k] = a_->value(column, pattern_[k]);
  }
  const auto z = cholesky_.eliminate(-a_->value(row_, column));
  if (!z || !(d_ - *z * *z > kLeastPivot)) return false;
  d_ -= *z * *z;
  cholesky_.take(*z);
  pattern_.push_back(column);
  place_[column] = static_cast<std::int32_t>(pattern_.size());
  return true;
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
    const std::vector<double>& y = cholesky_.solve();
    add_to_gradient(i, 1);
    for (std::size_t k = 0; k < y.size(); ++k) add_to_gradient(pattern_[k], y[k]);
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
  const std::vector<double>& y = cholesky_.solve();
  const double root = std::sqrt(d_);
  entries_.clear();
  for (std::size_t k = 0; k < pattern_.size(); ++k) {
    entries_.emplace_back(pattern_[k], y[k] / root);
    place_[pattern_[k]] = 0;
  }
  std::ranges::sort(entries_);
}

double GrowingRow::last() const { return 1 / std::sqrt(d_); }

}  // namespace trireme::inverses
