// SPDX-License-Identifier: BSD-3-Clause
#include "factors/numbers.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "factors/rules.hpp"

namespace trireme::factors {
namespace {

// Of entries per level; below it, threads wait for each other longer than they work.
constexpr std::int64_t kParallelFrom = 4096;

// Pivots that were replaced, and those of them that are more than rounding at the end of a row.
struct Replaced {
  std::int64_t pivots = 0, spoiling = 0;
};

class Elimination {
 public:
  Elimination(const FactorPattern& pattern, Array<double>& values)
      : pattern_(pattern), values_(values), place_(pattern.rows, -1) {}

  // Row i, whose entries are those of A, becomes that of L, D^-1 and U. A pivot that does not serve
  // is replaced and counted.
  void run(std::int32_t i, double largest, bool definite, Replaced& replaced) {
    const std::int32_t first = pattern_.row_ptr[i], last = pattern_.row_ptr[i + 1];
    const std::int32_t diagonal = pattern_.diagonal[i];
    for (std::int32_t e = first; e < last; ++e) place_[pattern_.col_idx[e]] = e;
    for (std::int32_t e = first; e < diagonal; ++e) eliminate(pattern_.col_idx[e], e, last);
    for (std::int32_t e = first; e < last; ++e) place_[pattern_.col_idx[e]] = -1;

    double pivot = values_[diagonal];
    const bool has_size = serves(pivot, largest), is_negative = has_size && pivot < 0;
    const bool good = has_size && !(definite && is_negative);
    if (!good) pivot = pivot_instead(definite ? 1.0 : pivot, largest);
    const double inverse = 1 / pivot;
    values_[diagonal] = inverse;
    for (std::int32_t e = diagonal + 1; e < last; ++e) values_[e] *= inverse;
    if (good) return;
    ++replaced.pivots;
    if (diagonal + 1 < last || is_negative) ++replaced.spoiling;
  }

 private:
  // Subtracts the multiple of row k that makes entry e of the present row, in column k, 0.
  void eliminate(std::int32_t k, std::int32_t e, std::int32_t last) {
    const double factor = values_[e];
    const std::int32_t from = pattern_.diagonal[k] + 1, to = pattern_.row_ptr[k + 1];
    // A long row is searched for the few columns of a short one.
    if (to - from > 8 * (last - e)) {
      const auto columns = std::span(pattern_.col_idx).subspan(from, to - from);
      for (std::int32_t mine = e + 1; mine < last; ++mine) {
        const auto found = std::ranges::lower_bound(columns, pattern_.col_idx[mine]);
        if (found != columns.end() && *found == pattern_.col_idx[mine])
          values_[mine] -= factor * values_[from + (found - columns.begin())];
      }
    } else {
      for (std::int32_t other = from; other < to; ++other) {
        const std::int32_t mine = place_[pattern_.col_idx[other]];
        if (mine >= 0) values_[mine] -= factor * values_[other];
      }
    }
    values_[e] = factor * values_[pattern_.diagonal[k]];
  }

  const FactorPattern& pattern_;
  Array<double>& values_;
  Array<std::int32_t> place_;  // of each column in the present row; -1: it has none
};

// Returns how many pivots were replaced.
Replaced eliminate(const FactorPattern& pattern, const Array<double>& largest, bool definite,
                   Array<double>& values) {
  const Levels& levels = pattern.lower;
  if (omp_get_max_threads() == 1 || pattern.nnz() < kParallelFrom * levels.count()) {
    Elimination work(pattern, values);
    Replaced replaced;
    for (std::int32_t i = 0; i < pattern.rows; ++i) work.run(i, largest[i], definite, replaced);
    return replaced;
  }
  std::vector<Elimination> works(omp_get_max_threads(), Elimination(pattern, values));
  std::int64_t pivots = 0, spoiling = 0;
#pragma omp parallel reduction(+ : pivots, spoiling)
  {
    Replaced replaced;
    Elimination& work = works[omp_get_thread_num()];
    for (std::int64_t level = 0; level < levels.count(); ++level) {
#pragma omp for schedule(dynamic, 64)
      for (std::int32_t at = levels.starts[level]; at < levels.starts[level + 1]; ++at) {
        const std::int32_t i = levels.rows[at];
        work.run(i, largest[i], definite, replaced);
      }
    }
    pivots += replaced.pivots;
    spoiling += replaced.spoiling;
  }
  return {pivots, spoiling};
}

// Where the pattern is symmetric, entry (j, i) of L comes to (i, j) of U.
void mirror(const FactorPattern& pattern, Array<double>& values) {
  Array<std::int32_t> next(pattern.rows);
  for (std::int64_t i = 0; i < pattern.rows; ++i) next[i] = pattern.diagonal[i] + 1;
  for (std::int32_t j = 0; j < pattern.rows; ++j)
    for (std::int32_t e = pattern.row_ptr[j]; e < pattern.diagonal[j]; ++e) {
      const std::int32_t i = pattern.col_idx[e], to = next[i];
      if (to < pattern.row_ptr[i + 1] && pattern.col_idx[to] == j) {
        values[to] = values[e];
        ++next[i];
      }
    }
}

}  // namespace

FactorNumbers make_numbers(const FactorPattern& pattern, const CsrView<double>& a, bool definite) {
  const std::int64_t rows = pattern.rows;
  Array<double> of_a(pattern.nnz(), 0.0);
  for (std::int64_t k = 0; k < a.nnz(); ++k) of_a[pattern.place[k]] += a.values[k];
  Array<double> largest(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    double most = 0;
    for (std::int32_t e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e)
      most = std::max(most, std::abs(of_a[e]));
    largest[i] = most;
  }
  FactorNumbers made;
  for (;; made.shift = next_shift(made.shift)) {
    made.values = of_a;
    if (made.shift > 0)
      for (std::int64_t i = 0; i < rows; ++i)
        made.values[pattern.diagonal[i]] += made.shift * std::abs(made.values[pattern.diagonal[i]]);
    const Replaced replaced = eliminate(pattern, largest, definite, made.values);
    made.replaced = replaced.pivots;
    if (!definite || replaced.spoiling == 0 || made.shift >= kMostShift) break;
  }
  if (definite) mirror(pattern, made.values);
  return made;
}

}  // namespace trireme::factors
