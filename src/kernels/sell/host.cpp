// SPDX-License-Identifier: BSD-3-Clause
// The host executor: the OpenMP threads share the slices and then the rows kept apart. The result
// is deterministic: each row is summed in storage order.
#include <algorithm>
#include <span>
#include <utility>

#include "kernels/sell/build.hpp"
#include "kernels/sell/layout_host.hpp"
#include "kernels/sell/ragged.hpp"
#include "kernels/sell/ragged_kernels.hpp"
#include "kernels/sell/sell.hpp"

namespace trireme {
namespace sell {
namespace {

constexpr int kLargestSlice = kLanes * kMaxLaneRows;

// The columns of the entries of a step, each in 16 or 32 bits, with -1 for padding; and where their
// values are.
template <class Value, class Column>
struct StoredColumns {
  const Layout<Value>& a;
  const Column* columns;

  std::int64_t operator()(std::int64_t, std::int64_t step, int at) const {
    const Column column = columns[step * a.form.slice_size() + at];
    if (column == static_cast<Column>(-1)) return -1;
    return column + (a.form.narrow ? a.base[step] : 0);
  }
  std::int64_t value_of(std::int64_t, std::int64_t step, int at) const {
    return step * a.form.slice_size() + at;
  }
};
// The same from the patterns of the rows.
template <class Value>
struct PatternedColumns {
  const Layout<Value>& a;

  std::int64_t entry_of_pattern(std::int64_t slice, std::int64_t step, int at) const {
    const auto pattern = static_cast<std::int64_t>(a.patterns[slice * a.form.slice_size() + at]);
    return pattern * a.pattern_width + step - a.slice_ptr[slice];
  }
  std::int64_t operator()(std::int64_t slice, std::int64_t step, int at) const {
    const std::int32_t difference = a.differences[entry_of_pattern(slice, step, at)];
    if (difference == kNoDifference) return -1;
    return a.caller_row(slice * a.form.slice_size() + slot_at(at, a.form.lane_rows)) + difference;
  }
  std::int64_t value_of(std::int64_t slice, std::int64_t step, int at) const {
    return a.form.repeated ? entry_of_pattern(slice, step, at) : step * a.form.slice_size() + at;
  }
};

// The sums of the rows of one slice, in the order of position().
template <class Value, class Stored, class Columns, class X>
void sum_slice(const Layout<Value>& a, std::int64_t slice, const Stored* values,
               const Columns& columns, const X& x, SumOf<X> (&sums)[kLargestSlice]) {
  const int size = a.form.slice_size();
  std::fill(std::begin(sums), std::end(sums), SumOf<X>{});
  for (std::int64_t step = a.slice_ptr[slice]; step < a.slice_ptr[slice + 1]; ++step)
    for (int at = 0; at < size; ++at) {
      const std::int64_t column = columns(slice, step, at);
      if (column >= 0)
        sums[at] +=
            static_cast<HostSumOf<Value>>(values[columns.value_of(slice, step, at)]) * x[column];
    }
}

template <class Value, class Stored, class Columns, class X, class Put>
void multiply_slices(const Layout<Value>& a, const Stored* values, const Columns& columns,
                     const X& x, const Put& put) {
#pragma omp parallel for schedule(static)
  for (std::int64_t slice = 0; slice < a.slices(); ++slice) {
    SumOf<X> sums[kLargestSlice];
    sum_slice(a, slice, values, columns, x, sums);
    const int size = a.form.slice_size();
    const std::int64_t first = slice * size;
    const auto count = static_cast<int>(std::min<std::int64_t>(size, a.slice_rows() - first));
    for (int slot = 0; slot < count; ++slot)
      put(a.caller_row(first + slot), sums[position(slot, a.form.lane_rows)]);
  }
}

// put(row, sum) gets the caller's row.
template <class Value, class X, class Put>
void multiply_all(const Layout<Value>& a, const X& x, const Put& put) {
  const auto with_columns = [&](const auto* values) {
    if (a.form.patterned)
      multiply_slices(a, values, PatternedColumns<Value>{a}, x, put);
    else if (a.form.narrow)
      multiply_slices(a, values, StoredColumns<Value, std::uint16_t>{a, a.offsets.data()}, x, put);
    else
      multiply_slices(a, values, StoredColumns<Value, std::int32_t>{a, a.columns.data()}, x, put);
  };
  if (a.form.in_fp32)
    with_columns(a.fp32_values.data());
  else
    with_columns(a.values.data());

#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t row = 0; row < a.apart.rows; ++row) {
    SumOf<X> sum{};
    for (std::int32_t k = a.apart.row_ptr[row]; k < a.apart.row_ptr[row + 1]; ++k)
      sum += static_cast<HostSumOf<Value>>(a.apart.values[k]) * x[a.apart.col_idx[k]];
    put(a.long_rows[row], sum);
  }
}

struct Product {
  template <class Value, class X, class Put>
  static void multiply(const Layout<Value>& a, const X& x, const Put& put) {
    multiply_all(a, x, put);
  }
  template <class Value>
  static std::int64_t stored_bytes(const Layout<Value>& a) {
    return bytes_of(a.row_order) + bytes_of(a.slice_ptr) + bytes_of(a.base) + bytes_of(a.offsets) +
           bytes_of(a.columns) + bytes_of(a.patterns) + bytes_of(a.differences) +
           bytes_of(a.pattern_rows) + bytes_of(a.values) + bytes_of(a.fp32_values) +
           bytes_of(a.long_rows) + bytes_of(a.apart.row_ptr) + bytes_of(a.apart.col_idx) +
           bytes_of(a.apart.values);
  }
};

}  // namespace
}  // namespace sell

template <class Value>
std::unique_ptr<HostKernel<Value>> build_sell_host(const CsrView<Value>& matrix) {
  const std::int64_t longest = sell::longest_row(matrix.rows, matrix.nnz());
  std::int64_t long_nnz = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t length = matrix.row_ptr[row + 1] - matrix.row_ptr[row];
    if (length > longest) long_nnz += length;
  }
  if (sell::is_ragged(long_nnz, matrix.nnz())) return sell::build_ragged_host(matrix);
  std::vector<BuildStep> steps;
  auto layout = sell::build(matrix, steps);
  return std::make_unique<sell::LayoutHost<Value, sell::Layout<Value>, sell::Product>>(
      matrix, std::move(layout), std::move(steps));
}

template std::unique_ptr<HostKernel<double>> build_sell_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_sell_host(const CsrView<float>&);

}  // namespace trireme
