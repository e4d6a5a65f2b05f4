// SPDX-License-Identifier: BSD-3-Clause
// The host executor of ragged rows: the OpenMP threads share the slices, and then the cut rows. The
// result is deterministic: the order in which a row is summed depends on the layout only.
#include <cstring>
#include <utility>
#include <vector>

#include "base/stopwatch.hpp"
#include "kernels/sell/layout_host.hpp"
#include "kernels/sell/ragged.hpp"
#include "kernels/sell/ragged_kernels.hpp"

namespace trireme {
namespace sell {
namespace {

// The column at `place` of a step of the slice, or -1 for padding.
template <class Value>
std::int64_t column_at(const RaggedLayout<Value>& a, const RaggedSlice& slice, std::int32_t step,
                       int place) {
  const auto* bytes =
      reinterpret_cast<const unsigned char*>(a.columns.data()) + slice.columns * kColumnUnit;
  const std::int64_t at = step * kLanes * a.lane_rows + place;
  const int lane = place / a.lane_rows;
  if (slice.code() == ColumnCode::runs) {
    Run run;
    std::memcpy(&run, bytes + slice.row_of(lane, place % a.lane_rows) * sizeof run, sizeof run);
    const std::int32_t k = slice.entry_of(lane, step);
    return k < run.length ? run.first_column + k : -1;
  }
  if (slice.code() == ColumnCode::columns) {
    std::int32_t column = 0;
    std::memcpy(&column, bytes + at * sizeof column, sizeof column);
    return column;
  }
  std::uint16_t offset = 0;
  std::memcpy(&offset, bytes + at * sizeof offset, sizeof offset);
  return offset == kNoOffset ? -1 : a.base[slice.first_step + step] + offset;
}

// Adds the products of a slice to the sums of its rows; a part has one row.
template <class Value, class X>
void add_slice(const RaggedLayout<Value>& a, const RaggedSlice& slice, const X& x, SumOf<X>* sums) {
  for (std::int32_t step = 0; step < slice.steps(); ++step)
    for (int place = 0; place < kLanes * a.lane_rows; ++place) {
      const std::int64_t column = column_at(a, slice, step, place);
      if (column < 0) continue;
      const std::int64_t at =
          (slice.first_step + step) * std::int64_t{kLanes} * a.lane_rows + place;
      const int row = slice.part() ? 0 : slice.row_of(place / a.lane_rows, place % a.lane_rows);
      const auto value = a.in_fp32 ? static_cast<HostSumOf<Value>>(a.fp32_values[at])
                                   : static_cast<HostSumOf<Value>>(a.values[at]);
      sums[row] += value * x[column];
    }
}

template <class Value, class X, class Put>
void multiply_all(const RaggedLayout<Value>& a, const X& x, const Put& put) {
  std::vector<SumOf<X>> parts(a.parts());
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(a.slices.size()); ++i) {
    const RaggedSlice& slice = a.slices[i];
    SumOf<X> sums[2 * kLanes] = {};
    add_slice(a, slice, x, sums);
    if (slice.part()) {
      const CutRow& cut = a.cut_rows[slice.first_row];
      parts[cut.first_part + i - cut.first_slice] = sums[0];
    }
    for (std::int32_t row = 0; row < slice.rows(); ++row)
      put(a.row_order[slice.first_row + row], sums[row]);
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(a.cut_rows.size()); ++i) {
    const CutRow& cut = a.cut_rows[i];
    SumOf<X> sum{};
    for (std::int32_t part = 0; part < cut.parts; ++part) sum += parts[cut.first_part + part];
    put(cut.row, sum);
  }
}

struct RaggedProduct {
  template <class Value, class X, class Put>
  static void multiply(const RaggedLayout<Value>& a, const X& x, const Put& put) {
    multiply_all(a, x, put);
  }
  template <class Value>
  static std::int64_t stored_bytes(const RaggedLayout<Value>& a) {
    return bytes_of(a.row_order) + bytes_of(a.slices) + bytes_of(a.cut_rows) + bytes_of(a.base) +
           bytes_of(a.columns) + bytes_of(a.values) + bytes_of(a.fp32_values);
  }
};

}  // namespace
}  // namespace sell

template <class Value>
std::unique_ptr<HostKernel<Value>> sell::build_ragged_host(const CsrView<Value>& matrix) {
  Stopwatch watch;
  auto layout = sell::build_ragged(matrix);
  return std::make_unique<sell::LayoutHost<Value, sell::RaggedLayout<Value>, sell::RaggedProduct>>(
      matrix, std::move(layout), std::vector<BuildStep>{{"ragged rows", watch.lap()}});
}
template std::unique_ptr<HostKernel<double>> sell::build_ragged_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> sell::build_ragged_host(const CsrView<float>&);

}  // namespace trireme
