// SPDX-License-Identifier: BSD-3-Clause
// Builds the JDS layout by counting rows: the rows that have more than j nonzeros are the length of
// diagonal j, and the rows that are longer than a row are those before it in the order.
#include "kernels/peers/jds/build.hpp"

#include <algorithm>

#include "base/stopwatch.hpp"

namespace trireme::jds {
namespace {

// rows_of[n] is the number of rows of n nonzeros, for n up to the longest row.
template <class Value>
Array<std::int32_t> count_lengths(const CsrView<Value>& a) {
  std::int32_t longest = 0;
  for (std::int64_t row = 0; row < a.rows; ++row)
    longest = std::max(longest, a.row_ptr[row + 1] - a.row_ptr[row]);
  Array<std::int32_t> rows_of(longest + std::int64_t{1}, 0);
  for (std::int64_t row = 0; row < a.rows; ++row) ++rows_of[a.row_ptr[row + 1] - a.row_ptr[row]];
  return rows_of;
}

// Turns the counts into longer[n], the number of rows of more than n nonzeros.
void count_longer_rows(Array<std::int32_t>& counts) {
  std::int32_t longer = 0;
  for (std::int64_t n = std::ssize(counts) - 1; n >= 0; --n) {
    const std::int32_t rows = counts[n];
    counts[n] = longer;
    longer += rows;
  }
}

// Calls take(k, at) for each nonzero k of the CSR and its place in the layout.
template <class Value, class Take>
void for_each_entry(const CsrView<Value>& a, const Layout<Value>& layout, const Take& take) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < layout.rows(); ++i) {
    const std::int32_t begin = a.row_ptr[layout.row_order[i]];
    const std::int32_t length = a.row_ptr[layout.row_order[i] + 1] - begin;
    for (std::int32_t j = 0; j < length; ++j) take(begin + j, layout.jds_ptr[j] + i);
  }
}

}  // namespace

template <class Value>
Layout<Value> build(const CsrView<Value>& a, std::vector<BuildStep>& steps) {
  Stopwatch watch;
  Layout<Value> layout;
  Array<std::int32_t> next = count_lengths(a);
  count_longer_rows(next);
  layout.jds_ptr.resize(next.size());
  layout.jds_ptr[0] = 0;
  for (std::size_t j = 0; j + 1 < next.size(); ++j)
    layout.jds_ptr[j + 1] = layout.jds_ptr[j] + next[j];
  layout.row_order.resize(a.rows);
  for (std::int64_t row = 0; row < a.rows; ++row)
    layout.row_order[next[a.row_ptr[row + 1] - a.row_ptr[row]]++] = static_cast<std::int32_t>(row);
  steps.push_back({"sort rows", watch.lap()});

  layout.cols.resize(a.nnz());
  layout.vals.resize(a.nnz());
  for_each_entry(a, layout, [&](std::int32_t k, std::int64_t at) {
    layout.cols[at] = a.col_idx[k];
    layout.vals[at] = a.values[k];
  });
  steps.push_back({"write diagonals", watch.lap()});
  return layout;
}

template <class Value>
void fill_values(const CsrView<Value>& a, Layout<Value>& layout) {
  for_each_entry(a, layout,
                 [&](std::int32_t k, std::int64_t at) { layout.vals[at] = a.values[k]; });
}

template Layout<double> build(const CsrView<double>&, std::vector<BuildStep>&);
template Layout<float> build(const CsrView<float>&, std::vector<BuildStep>&);
template void fill_values(const CsrView<double>&, Layout<double>&);
template void fill_values(const CsrView<float>&, Layout<float>&);

}  // namespace trireme::jds
