// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/least_squares_row.hpp"

#include <algorithm>
#include <cmath>

#include "inverses/row_rules.hpp"

namespace trireme::inverses {
namespace {

constexpr std::uint8_t kInPattern = 1, kIsCandidate = 2;

}  // namespace

ScaledColumns::ScaledColumns(const ScaledRows& a) {
  const std::int64_t rows = a.rows();
  begin_.assign(rows + 1, 0);
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int32_t column : a.columns(row)) ++begin_[column + 1];
  for (std::int64_t column = 0; column < rows; ++column) begin_[column + 1] += begin_[column];
  rows_.resize(begin_[rows]);
  values_.resize(begin_[rows]);
  Array<std::int64_t> next(begin_.begin(), begin_.end() - 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto columns = a.columns(row);
    const auto values = a.values(row);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::int64_t to = next[columns[k]]++;
      rows_[to] = static_cast<std::int32_t>(row);
      values_[to] = values[k];
    }
  }
}

LeastSquaresRow::LeastSquaresRow(const ScaledRows& a, const ScaledColumns& columns)
    : a_(&a),
      columns_(&columns),
      residual_(a.rows(), 0.0),
      gain_(a.rows(), 0.0),
      work_(a.rows(), 0.0),
      seen_(a.rows(), 0) {}

void LeastSquaresRow::begin(std::int64_t i) {
  row_ = i;
  pattern_.clear();
  cholesky_.clear();
  entries_.clear();
  residual_squared_ = 1;
}

// Of the row that is in work_ with a row of the pattern. Only the row i itself may be long.
double LeastSquaresRow::product(std::int32_t row_in_work, std::int32_t of_pattern) const {
  double sum = 0;
  if (std::ssize(a_->columns(of_pattern)) <= kLongRow) {
    const auto columns = a_->columns(of_pattern);
    const auto values = a_->values(of_pattern);
    for (std::size_t k = 0; k < columns.size(); ++k) sum += values[k] * work_[columns[k]];
  } else {
    const auto columns = a_->columns(row_in_work);
    const auto values = a_->values(row_in_work);
    for (std::size_t k = 0; k < columns.size(); ++k)
      sum += values[k] * a_->value(of_pattern, columns[k]);
  }
  return sum;
}

bool LeastSquaresRow::add(std::int32_t row) {
  const std::size_t m = pattern_.size();
  std::vector<double>& products = cholesky_.next_row();
  const auto columns = a_->columns(row);
  const auto values = a_->values(row);
  if (m > 0) {
    for (std::size_t k = 0; k < columns.size(); ++k) work_[columns[k]] = values[k];
    for (std::size_t k = 0; k < m; ++k) products[k] = product(row, pattern_[k]);
    for (const std::int32_t column : columns) work_[column] = 0;
  }
  const auto z = cholesky_.eliminate(a_->value(row, static_cast<std::int32_t>(row_)));
  if (!z) return false;
  residual_squared_ = std::fmax(0, residual_squared_ - *z * *z);
  cholesky_.take(*z);
  pattern_.push_back(row);
  seen_[row] = kInPattern;
  return true;
}

// y A(P, :) - e_i.
void LeastSquaresRow::find_residual() {
  support_.assign(1, static_cast<std::int32_t>(row_));
  residual_[row_] = -1;
  for (std::size_t k = 0; k < pattern_.size(); ++k) {
    const auto columns = a_->columns(pattern_[k]);
    const auto values = a_->values(pattern_[k]);
    const double y = cholesky_.y()[k];
    for (std::size_t l = 0; l < columns.size(); ++l) {
      if (residual_[columns[l]] == 0) support_.push_back(columns[l]);
      residual_[columns[l]] += y * values[l];
    }
  }
}

// The rows that have entries where the residual has, and their products with it.
void LeastSquaresRow::find_candidates() {
  candidates_.clear();
  for (const std::int32_t column : support_) {
    const double factor = residual_[column];
    residual_[column] = 0;
    if (factor == 0) continue;  // it cancelled, or the column was met before
    const auto rows = columns_->rows(column);
    const auto values = columns_->values(column);
    const auto take = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
      for (std::ptrdiff_t k = from; k < to; ++k) {
        const std::int32_t row = rows[k];
        if (seen_[row] == 0) {
          seen_[row] = kIsCandidate;
          candidates_.push_back(row);
        }
        gain_[row] += factor * values[k];
      }
    };
    if (std::ssize(rows) <= kLongRow) {
      take(0, std::ssize(rows));
    } else {
      take(0, kLongRow / 2);
      take(std::ssize(rows) - kLongRow / 2, std::ssize(rows));
    }
  }
}

void LeastSquaresRow::grow(std::int64_t i, std::int32_t steps) {
  begin(i);
  const auto own = static_cast<std::int32_t>(i);
  if (a_->value(i, own) != 0) add(own);
  if (std::ssize(a_->columns(i)) > kLongRow) steps = pattern_.empty() ? 1 : 0;
  for (std::int32_t step = 0; step < steps && residual_squared_ > kSmallResidual; ++step) {
    cholesky_.solve();
    find_residual();
    find_candidates();
    const auto last = std::partition(candidates_.begin(), candidates_.end(), [&](std::int32_t row) {
      seen_[row] = 0;
      return gain_[row] * gain_[row] >= kLeastGain * residual_squared_ &&
             std::ssize(a_->columns(row)) <= kLongRow;
    });
    const auto count = std::min<std::ptrdiff_t>(kEntriesPerStep, last - candidates_.begin());
    std::ranges::partial_sort(
        candidates_.begin(), candidates_.begin() + count, last, {},
        [&](std::int32_t row) { return std::pair(-std::abs(gain_[row]), row); });
    bool grew = false;
    for (std::ptrdiff_t k = 0; k < count; ++k) grew = add(candidates_[k]) || grew;
    for (const std::int32_t row : pattern_) gain_[row] = 0;
    for (const std::int32_t row : candidates_) gain_[row] = 0;
    if (!grew) break;
  }
  end();
}

void LeastSquaresRow::fill(std::int64_t i, std::span<const std::int32_t> pattern) {
  begin(i);
  std::vector<std::int32_t> left;
  for (const std::int32_t row : pattern)
    if (!add(row)) left.push_back(row);
  for (const std::int32_t row : left) entries_.emplace_back(row, 0.0);
  end();
}

void LeastSquaresRow::end() {
  const std::vector<double>& y = cholesky_.solve();
  for (std::size_t k = 0; k < pattern_.size(); ++k) {
    entries_.emplace_back(pattern_[k], y[k]);
    seen_[pattern_[k]] = 0;
  }
  const auto own = static_cast<std::int32_t>(row_);
  if (entries_.empty()) entries_.emplace_back(own, 0.0);
  std::ranges::sort(entries_);
  // A row without a number would make M singular.
  if (std::ranges::any_of(entries_, [](const auto& entry) { return entry.second != 0; })) return;
  const auto at = std::ranges::find(entries_, own, &std::pair<std::int32_t, double>::first);
  (at == entries_.end() ? entries_.begin() : at)->second = 1;
}

}  // namespace trireme::inverses
