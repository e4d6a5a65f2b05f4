// SPDX-License-Identifier: BSD-3-Clause
// Builds the SELL layout on the host. The tests compare the CUDA builder with this builder.
#include "kernels/sell/build.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "base/free_memory.hpp"
#include "base/stopwatch.hpp"
#include "kernels/sell/patterns.hpp"
#include "sparse/exact.hpp"

namespace trireme::sell {

std::int64_t longest_row(std::int64_t rows, std::int64_t nnz) {
  const std::int64_t mean = rows ? (nnz + rows - 1) / rows : 0;
  return std::clamp<std::int64_t>(4 * mean, 64, 128);
}

bool keeps_order(std::int64_t nnz, std::int64_t long_rows, std::int64_t natural_entries) {
  return long_rows == 0 && 20 * natural_entries <= 21 * nnz;
}

namespace {

template <class Value>
std::int64_t length_of(const CsrView<Value>& a, std::int64_t row) {
  return a.row_ptr[row + 1] - a.row_ptr[row];
}

// The first step of each slice, for the first `slice_rows` rows in the order of the layout.
template <class Value>
Array<std::int32_t> slice_offsets(const CsrView<Value>& a, const Layout<Value>& layout,
                                  std::int64_t slice_rows) {
  const int size = layout.form.slice_size();
  const std::int64_t slices = (slice_rows + size - 1) / size;
  Array<std::int32_t> slice_ptr(slices + 1);
  slice_ptr[0] = 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    std::int64_t width = 0;
    const std::int64_t end = std::min(slice_rows, (slice + 1) * size);
    for (std::int64_t row = slice * size; row < end; ++row)
      width = std::max(width, length_of(a, layout.caller_row(row)));
    slice_ptr[slice + 1] = static_cast<std::int32_t>(width);
  }
  std::partial_sum(slice_ptr.begin(), slice_ptr.end(), slice_ptr.begin());
  return slice_ptr;
}

// Sorts the short rows. The long rows keep the caller's order.
template <class Value>
void sort_rows(const CsrView<Value>& a, std::int64_t longest, Layout<Value>& layout) {
  Array<std::uint32_t> keys(a.rows);
  for (std::int64_t row = 0; row < a.rows; ++row)
    keys[row] = sort_key(row, length_of(a, row), longest);
  Array<std::int32_t> order(a.rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t l, std::int32_t r) { return keys[l] < keys[r]; });
  const auto first_long = std::partition_point(
      order.begin(), order.end(), [&](std::int32_t row) { return keys[row] != kLongRow; });
  layout.long_rows.assign(first_long, order.end());
  layout.row_order.assign(order.begin(), first_long);
  layout.form.sorted = true;
}

// Calls body(entry of the CSR, index in the arrays of the layout, step) for every stored entry. The
// entry of padding is -1.
template <class Value, class Body>
void for_each_entry(const CsrView<Value>& a, const Layout<Value>& layout, Body&& body) {
  const int size = layout.form.slice_size();
#pragma omp parallel for schedule(static)
  for (std::int64_t slice = 0; slice < layout.slices(); ++slice)
    for (std::int64_t step = layout.slice_ptr[slice]; step < layout.slice_ptr[slice + 1]; ++step)
      for (int slot = 0; slot < size; ++slot) {
        const std::int64_t row = slice * size + slot;
        std::int64_t entry = -1;
        if (row < layout.slice_rows()) {
          const std::int64_t caller = layout.caller_row(row);
          const std::int64_t k = a.row_ptr[caller] + step - layout.slice_ptr[slice];
          if (k < a.row_ptr[caller + 1]) entry = k;
        }
        body(entry, step * size + position(slot, layout.form.lane_rows), step);
      }
}

// Finds the smallest column of each step. Sets form.narrow where 16 bits reach all other columns of
// the step.
template <class Value>
void find_bases(const CsrView<Value>& a, Layout<Value>& layout) {
  Array<std::int32_t> low(layout.steps()), high(layout.steps());
  std::fill(low.begin(), low.end(), 0x7fffffff);
  std::fill(high.begin(), high.end(), 0);
  for_each_entry(a, layout, [&](std::int64_t entry, std::int64_t, std::int64_t step) {
    if (entry < 0) return;
    low[step] = std::min(low[step], a.col_idx[entry]);
    high[step] = std::max(high[step], a.col_idx[entry]);
  });
  layout.form.narrow = true;
  for (std::int64_t step = 0; step < layout.steps(); ++step)
    if (high[step] - low[step] > kLargestOffset) layout.form.narrow = false;
  if (layout.form.narrow) layout.base = std::move(low);
}

// Cuts the slices for repeated rows, and again for patterns or narrow columns, and again for wide
// columns, where the rows and columns turn out to be so.
template <class Value>
void cut_slices(const CsrView<Value>& a, std::int64_t longest, Layout<Value>& layout) {
  if (layout.long_rows.empty()) {
    layout.form.lane_rows = 1;
    layout.slice_ptr = slice_offsets(a, layout, layout.slice_rows());
    find_repeated_rows(a, longest, layout);
    if (layout.form.repeated) return;
  }
  layout.form.lane_rows = rows_of_lane(a.rows, a.nnz(), true);
  layout.slice_ptr = slice_offsets(a, layout, layout.slice_rows());
  find_patterns(a, longest, layout);
  if (layout.form.patterned) return;
  find_bases(a, layout);
  const int lane_rows = rows_of_lane(a.rows, a.nnz(), layout.form.narrow);
  if (lane_rows == layout.form.lane_rows) return;
  layout.form.lane_rows = lane_rows;
  layout.slice_ptr = slice_offsets(a, layout, layout.slice_rows());
}

template <class Value>
void fill_columns(const CsrView<Value>& a, Layout<Value>& layout) {
  if (layout.form.patterned) return;
  const std::int64_t stored = layout.steps() * layout.form.slice_size();
  if (layout.form.narrow) {
    layout.offsets.resize(stored);
    for_each_entry(a, layout, [&](std::int64_t entry, std::int64_t at, std::int64_t step) {
      layout.offsets[at] =
          entry < 0 ? kNoOffset : static_cast<std::uint16_t>(a.col_idx[entry] - layout.base[step]);
    });
  } else {
    layout.columns.resize(stored);
    for_each_entry(a, layout, [&](std::int64_t entry, std::int64_t at, std::int64_t) {
      layout.columns[at] = entry < 0 ? kNoColumn : a.col_idx[entry];
    });
  }
}

template <class Value>
void set_rows_apart(const CsrView<Value>& a, Layout<Value>& layout) {
  CsrMatrix<Value>& apart = layout.apart;
  apart.rows = static_cast<std::int64_t>(layout.long_rows.size());
  apart.cols = a.cols;
  for (const std::int32_t row : layout.long_rows) {
    apart.col_idx.insert(apart.col_idx.end(), a.col_idx.begin() + a.row_ptr[row],
                         a.col_idx.begin() + a.row_ptr[row + 1]);
    apart.row_ptr.push_back(static_cast<std::int32_t>(apart.col_idx.size()));
  }
}

}  // namespace

template <class Value>
void fill_values(const CsrView<Value>& a, Layout<Value>& layout) {
  layout.form.in_fp32 = layout.form.in_fp32 && exact_in_float<Value>(a.values);
  layout.form.repeated = layout.form.repeated && rows_repeat(a, layout);
  const auto fill = [&](auto& stored) {
    using Stored = std::decay_t<decltype(stored[0])>;
    if (layout.form.repeated) {
      stored.assign(layout.differences.size(), Stored{});
      for (std::size_t pattern = 1; pattern < layout.pattern_rows.size(); ++pattern) {
        const std::int64_t row = layout.pattern_rows[pattern];
        for (std::int64_t j = 0; j < length_of(a, row); ++j)
          stored[pattern * layout.pattern_width + j] =
              static_cast<Stored>(a.values[a.row_ptr[row] + j]);
      }
      return;
    }
    stored.resize(layout.steps() * layout.form.slice_size());
    for_each_entry(a, layout, [&](std::int64_t entry, std::int64_t at, std::int64_t) {
      stored[at] = entry < 0 ? Stored{} : static_cast<Stored>(a.values[entry]);
    });
  };
  if (layout.form.in_fp32) {
    fill(layout.fp32_values);
  } else {
    let_go(layout.fp32_values);
    fill(layout.values);
  }
  layout.apart.values.clear();
  for (const std::int32_t row : layout.long_rows)
    layout.apart.values.insert(layout.apart.values.end(), a.values.begin() + a.row_ptr[row],
                               a.values.begin() + a.row_ptr[row + 1]);
}

template <class Value>
Layout<Value> build(const CsrView<Value>& a, std::vector<BuildStep>& steps) {
  Stopwatch watch;
  Layout<Value> layout;
  layout.rows = a.rows;
  layout.cols = a.cols;
  layout.nnz = a.nnz();
  const std::int64_t longest = longest_row(a.rows, a.nnz());
  std::int64_t long_rows = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) long_rows += length_of(a, row) > longest;
  layout.form.lane_rows = rows_of_lane(a.rows, a.nnz(), true);
  layout.slice_ptr = slice_offsets(a, layout, a.rows);
  if (!keeps_order(a.nnz(), long_rows, layout.steps() * layout.form.slice_size()))
    sort_rows(a, longest, layout);
  steps.push_back({"order rows", watch.lap()});
  cut_slices(a, longest, layout);
  fill_columns(a, layout);
  set_rows_apart(a, layout);
  steps.push_back({"columns", watch.lap()});
  layout.form.in_fp32 = std::is_same_v<Value, double> && exact_in_float<Value>(a.values);
  fill_values(a, layout);
  steps.push_back({"values", watch.lap()});
  return layout;
}

template Layout<double> build(const CsrView<double>&, std::vector<BuildStep>&);
template Layout<float> build(const CsrView<float>&, std::vector<BuildStep>&);
template void fill_values(const CsrView<double>&, Layout<double>&);
template void fill_values(const CsrView<float>&, Layout<float>&);

}  // namespace trireme::sell
