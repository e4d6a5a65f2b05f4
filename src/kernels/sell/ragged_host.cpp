// SPDX-License-Identifier: BSD-3-Clause
// The host executor of ragged rows: the OpenMP threads share the slices, and then the cut rows. The
// result is deterministic: the order in which a row is summed depends on the layout only.
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/lanes.hpp"
#include "kernels/sell/ragged.hpp"
#include "kernels/sell/ragged_kernels.hpp"

namespace trireme {
namespace sell {
namespace {

// x[column] is a number, or the numbers of several vectors; so is a sum.
template <class X>
using SumOf = std::decay_t<decltype(std::declval<X>()[0])>;

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
    std::int32_t column;
    std::memcpy(&column, bytes + at * sizeof column, sizeof column);
    return column;
  }
  std::uint16_t offset;
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
      sums[row] +=
          (a.singles ? static_cast<Value>(a.singles_values[at]) : a.values[at]) * x[column];
    }
}

template <class Value, class X, class Put>
void multiply(const RaggedLayout<Value>& a, const X& x, const Put& put) {
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

template <class T>
std::int64_t bytes_of(const Array<T>& array) {
  return static_cast<std::int64_t>(array.size() * sizeof(T));
}

template <class Value>
class RaggedHost final : public HostKernel<Value> {
 public:
  explicit RaggedHost(const CsrView<Value>& matrix) : a_(matrix), layout_(build_ragged(matrix)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    sell::multiply(layout_, x,
                   [=](std::int64_t row, Value sum) { y[row] = add ? y[row] + sum : sum; });
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    in_lanes(x, y, accumulate,
             [this](const auto& xs, const auto& put) { sell::multiply(layout_, xs, put); });
  }

  void update_values(std::span<const Value> values) override {
    a_.values = values;
    fill_values(a_, layout_);
  }

  KernelStatistics statistics() const override {
    const std::int64_t stored = layout_.steps() * kLanes * layout_.lane_rows;
    return {.stored_bytes = bytes_of(layout_.row_order) + bytes_of(layout_.slices) +
                            bytes_of(layout_.cut_rows) + bytes_of(layout_.base) +
                            bytes_of(layout_.columns) + bytes_of(layout_.values) +
                            bytes_of(layout_.singles_values),
            .padding_ratio = static_cast<double>(stored) / static_cast<double>(layout_.nnz) - 1,
            .steps = {}};
  }

 private:
  CsrView<Value> a_;
  RaggedLayout<Value> layout_;
};

}  // namespace
}  // namespace sell

template <class Value>
std::unique_ptr<HostKernel<Value>> sell::build_ragged_host(const CsrView<Value>& matrix) {
  return std::make_unique<RaggedHost<Value>>(matrix);
}
template std::unique_ptr<HostKernel<double>> sell::build_ragged_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> sell::build_ragged_host(const CsrView<float>&);

}  // namespace trireme
