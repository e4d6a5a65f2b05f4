// SPDX-License-Identifier: BSD-3-Clause
// Builds entries with their coordinates, and multiplies by them.
#include "kernels/peers/coordinates.hpp"

#include <algorithm>

namespace trireme {
namespace {

// The index of the first taken entry of each row, and the number of all taken entries.
template <class Value>
Array<std::int32_t> first_entries(const CsrView<Value>& a, std::int64_t skipped) {
  Array<std::int32_t> first(a.rows + 1);
  first[0] = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t length = a.row_ptr[row + 1] - a.row_ptr[row];
    first[row + 1] =
        first[row] + static_cast<std::int32_t>(std::max<std::int64_t>(length - skipped, 0));
  }
  return first;
}

// Calls take(k, entry) for each nonzero k of the CSR that becomes an entry, and its row.
template <class Value, class Take>
void for_each_taken(const CsrView<Value>& a, const Array<std::int32_t>& first, const Take& take) {
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int32_t count = first[row + 1] - first[row];
    for (std::int32_t i = 0; i < count; ++i)
      take(row, a.row_ptr[row + 1] - count + i, first[row] + i);
  }
}

}  // namespace

template <class Value>
Coordinates<Value> entries_after(const CsrView<Value>& a, std::int64_t skipped) {
  const Array<std::int32_t> first = first_entries(a, skipped);
  Coordinates<Value> entries;
  entries.rows.resize(first[a.rows]);
  entries.cols.resize(first[a.rows]);
  entries.vals.resize(first[a.rows]);
  for_each_taken(a, first, [&](std::int64_t row, std::int32_t k, std::int32_t entry) {
    entries.rows[entry] = static_cast<std::int32_t>(row);
    entries.cols[entry] = a.col_idx[k];
    entries.vals[entry] = a.values[k];
  });
  return entries;
}

template <class Value>
void fill_values(const CsrView<Value>& a, std::int64_t skipped, Coordinates<Value>& entries) {
  for_each_taken(
      a, first_entries(a, skipped),
      [&](std::int64_t, std::int32_t k, std::int32_t entry) { entries.vals[entry] = a.values[k]; });
}

template <class Value>
void add_product(const Coordinates<Value>& entries, std::span<const Value> x, std::span<Value> y,
                 std::span<HostSumOf<Value>> carries) {
  const std::int32_t* rows = entries.rows.data();
  const std::int64_t segments = entries.segments();
#pragma omp parallel for schedule(static)
  for (std::int64_t segment = 0; segment < segments; ++segment) {
    const std::int64_t begin = segment * entries.kSegment;
    const std::int64_t end = std::min(begin + entries.kSegment, entries.entries());
    const std::int32_t cut_row = begin > 0 ? rows[begin - 1] : -1;
    carries[segment] = {};
    for (std::int64_t k = begin; k < end;) {
      const std::int32_t row = rows[k];
      HostSumOf<Value> sum{};
      for (; k < end && rows[k] == row; ++k)
        sum += term_of_sum(entries.vals[k], x[entries.cols[k]]);
      if (row == cut_row)
        carries[segment] += sum;
      else
        store_or_add(y[row], sum, true);
    }
  }
  AddShares<Value> shares;
  for (std::int64_t segment = 1; segment < segments; ++segment) {
    const std::int64_t begin = segment * entries.kSegment;
    if (rows[begin] == rows[begin - 1]) shares.add(y[rows[begin]], carries[segment]);
  }
}

template Coordinates<double> entries_after(const CsrView<double>&, std::int64_t);
template Coordinates<float> entries_after(const CsrView<float>&, std::int64_t);
template void fill_values(const CsrView<double>&, std::int64_t, Coordinates<double>&);
template void fill_values(const CsrView<float>&, std::int64_t, Coordinates<float>&);
template void add_product(const Coordinates<double>&, std::span<const double>, std::span<double>,
                          std::span<double>);
template void add_product(const Coordinates<float>&, std::span<const float>, std::span<float>,
                          std::span<double>);

}  // namespace trireme
