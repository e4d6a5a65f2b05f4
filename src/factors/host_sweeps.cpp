// SPDX-License-Identifier: BSD-3-Clause
#include "factors/host_sweeps.hpp"

#include <omp.h>

#include <numeric>

namespace trireme::factors {
namespace {

// Of entries per level; below it, threads wait for each other longer than they work.
constexpr std::int64_t kSharedFrom = 8192;

// The rows of one part of the factors, from begin(i) to end(i), in the order of a sweep. `entries`
// are those of the pattern.
template <class Value, class Begin, class End>
Sweep<Value> lay_out(const FactorPattern& pattern, const Levels& levels, bool descends,
                     const Begin& begin, const End& end, Array<std::int32_t>& entries) {
  const auto rows = static_cast<std::int32_t>(pattern.rows);
  Sweep<Value> sweep;
  if (omp_get_max_threads() > 1 && pattern.nnz() / 2 >= kSharedFrom * levels.count()) {
    sweep.starts = levels.starts;
    sweep.rows = levels.rows;
  } else {
    sweep.starts = {0, rows};
    sweep.rows.resize(rows);
    for (std::int32_t at = 0; at < rows; ++at) sweep.rows[at] = descends ? rows - 1 - at : at;
  }
  sweep.row_ptr.resize(rows + 1);
  sweep.row_ptr[0] = 0;
  for (std::int32_t at = 0; at < rows; ++at) {
    const std::int32_t i = sweep.rows[at];
    sweep.row_ptr[at + 1] = sweep.row_ptr[at] + end(i) - begin(i);
  }
  const std::int32_t count = sweep.row_ptr[rows];
  entries.resize(count);
  sweep.col_idx.resize(count);
  sweep.values.resize(count);
  for (std::int32_t at = 0; at < rows; ++at) {
    const std::int32_t i = sweep.rows[at], from = sweep.row_ptr[at];
    std::iota(entries.begin() + from, entries.begin() + sweep.row_ptr[at + 1], begin(i));
    for (std::int32_t k = from; k < sweep.row_ptr[at + 1]; ++k)
      sweep.col_idx[k] = pattern.col_idx[entries[k]];
  }
  return sweep;
}

// y[i] = start(i) - sum of a row's entries times y, which finish(i, y[i]) gets.
template <class Value, class Start, class Finish>
void run(const Sweep<Value>& sweep, double* y, const Start& start, const Finish& finish) {
  const auto row = [&](std::int32_t at) {
    const std::int32_t i = sweep.rows[at];
    double sum = start(i);
    for (std::int32_t k = sweep.row_ptr[at]; k < sweep.row_ptr[at + 1]; ++k)
      sum -= static_cast<double>(sweep.values[k]) * y[sweep.col_idx[k]];
    y[i] = sum;
    finish(i, sum);
  };
  const std::int64_t levels = std::ssize(sweep.starts) - 1;
  if (levels == 1) {
    for (std::int32_t at = 0; at < sweep.starts[1]; ++at) row(at);
    return;
  }
#pragma omp parallel
  for (std::int64_t level = 0; level < levels; ++level) {
#pragma omp for schedule(static)
    for (std::int32_t at = sweep.starts[level]; at < sweep.starts[level + 1]; ++at) row(at);
  }
}

}  // namespace

template <class Value>
HostSweeps<Value>::HostSweeps(const FactorPattern& pattern, const FactorNumbers& numbers)
    : pattern_(&pattern), inverse_diagonal_(pattern.rows), y_(pattern.rows) {
  lower_ = lay_out<Value>(
      pattern, pattern.lower, false, [&](std::int32_t i) { return pattern.row_ptr[i]; },
      [&](std::int32_t i) { return pattern.diagonal[i]; }, entry_of_lower_);
  upper_ = lay_out<Value>(
      pattern, pattern.upper, true, [&](std::int32_t i) { return pattern.diagonal[i] + 1; },
      [&](std::int32_t i) { return pattern.row_ptr[i + 1]; }, entry_of_upper_);
  take(numbers);
}

template <class Value>
void HostSweeps<Value>::take(const FactorNumbers& numbers) {
  const auto fill = [&](const Array<std::int32_t>& entries, Array<Value>& values) {
    const std::int64_t count = std::ssize(entries);
#pragma omp parallel for schedule(static) if (count > 1 << 16)
    for (std::int64_t k = 0; k < count; ++k)
      values[k] = static_cast<Value>(numbers.values[entries[k]]);
  };
  fill(entry_of_lower_, lower_.values);
  fill(entry_of_upper_, upper_.values);
  for (std::int64_t i = 0; i < pattern_->rows; ++i)
    inverse_diagonal_[i] = numbers.values[pattern_->diagonal[i]];
}

template <class Value>
void HostSweeps<Value>::apply(std::span<const double> r, std::span<double> z) {
  double* const y = y_.data();
  const FactorPattern& pattern = *pattern_;
  run(
      lower_, y, [&](std::int32_t i) { return r[pattern.row_of(i)]; }, [](std::int32_t, double) {});
  run(
      upper_, y, [&](std::int32_t i) { return inverse_diagonal_[i] * y[i]; },
      [&](std::int32_t i, double sum) { z[pattern.row_of(i)] = sum; });
}

template class HostSweeps<float>;
template class HostSweeps<double>;

}  // namespace trireme::factors
