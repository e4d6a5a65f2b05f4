// SPDX-License-Identifier: BSD-3-Clause
// One pass for the range of the columns, one for the columns.
#include "distributed/column_set.hpp"

#include <algorithm>
#include <limits>

namespace trireme {

template <class Column>
ColumnSet columns_outside(std::span<const Column> columns, std::int64_t first, std::int64_t last) {
  const auto outside = [&](std::int64_t column) { return column < first || column >= last; };
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
  for (const Column column : columns)
    if (outside(column)) {
      lowest = std::min<std::int64_t>(lowest, column);
      highest = std::max<std::int64_t>(highest, column);
    }
  if (highest < 0) return {0, 0};
  ColumnSet set(lowest, highest + 1);
  for (const Column column : columns)
    if (outside(column)) set.insert(column);
  return set;
}

template ColumnSet columns_outside(std::span<const std::int32_t>, std::int64_t, std::int64_t);
template ColumnSet columns_outside(std::span<const std::int64_t>, std::int64_t, std::int64_t);

}  // namespace trireme
