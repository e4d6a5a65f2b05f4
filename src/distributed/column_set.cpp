// SPDX-License-Identifier: BSD-3-Clause
// All threads look for the columns; one of them enters those that were found.
#include "distributed/column_set.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "sparse/partition.hpp"

namespace trireme {

template <class Column>
Array<std::int64_t> positions_outside(std::span<const Column> columns, std::int64_t first,
                                      std::int64_t last) {
  const auto outside = [&](std::int64_t column) { return column < first || column >= last; };
  const int parts = omp_get_max_threads();
  std::vector<std::int64_t> begins(parts + 1);
  const auto begin_of = [&](int part) { return even_share(std::ssize(columns), parts, part); };
#pragma omp parallel for schedule(static, 1)
  for (int part = 0; part < parts; ++part)
    begins[part + 1] = std::count_if(columns.begin() + begin_of(part),
                                     columns.begin() + begin_of(part + 1), outside);
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  Array<std::int64_t> positions(begins.back());
#pragma omp parallel for schedule(static, 1)
  for (int part = 0; part < parts; ++part) {
    std::int64_t next = begins[part];
    for (std::int64_t k = begin_of(part); k < begin_of(part + 1); ++k)
      if (outside(columns[k])) positions[next++] = k;
  }
  return positions;
}

template <class Column>
ColumnSet columns_at(std::span<const Column> columns, std::span<const std::int64_t> positions) {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
#pragma omp parallel for reduction(min : lowest) reduction(max : highest)
  for (const std::int64_t k : positions) {
    lowest = std::min<std::int64_t>(lowest, columns[k]);
    highest = std::max<std::int64_t>(highest, columns[k]);
  }
  if (highest < 0) return {0, 0};
  ColumnSet set(lowest, highest + 1);
  for (const std::int64_t k : positions) set.insert(columns[k]);
  return set;
}

template <class Column>
ColumnSet columns_outside(std::span<const Column> columns, std::int64_t first, std::int64_t last) {
  const Array<std::int64_t> positions = positions_outside(columns, first, last);
  return columns_at(columns, std::span(positions));
}

template Array<std::int64_t> positions_outside(std::span<const std::int32_t>, std::int64_t,
                                               std::int64_t);
template Array<std::int64_t> positions_outside(std::span<const std::int64_t>, std::int64_t,
                                               std::int64_t);
template ColumnSet columns_at(std::span<const std::int32_t>, std::span<const std::int64_t>);
template ColumnSet columns_at(std::span<const std::int64_t>, std::span<const std::int64_t>);
template ColumnSet columns_outside(std::span<const std::int32_t>, std::int64_t, std::int64_t);
template ColumnSet columns_outside(std::span<const std::int64_t>, std::int64_t, std::int64_t);

}  // namespace trireme
