// SPDX-License-Identifier: BSD-3-Clause
// The host executor: the OpenMP threads share the slices and then the rows kept apart. The result
// is deterministic: each row is summed in storage order.
#include <algorithm>
#include <span>

#include "kernels/sell/build.hpp"
#include "kernels/sell/sell.hpp"

namespace trireme {
namespace sell {
namespace {

constexpr int kLargestSlice = kLanes * kMaxLaneRows;

// The sums of the rows of one slice, in the order of position().
template <class Value, class Stored, class Column>
void sum_slice(const Layout<Value>& a, std::int64_t slice, const Stored* values,
               const Column* columns, std::span<const Value> x, Value (&sums)[kLargestSlice]) {
  const int size = a.code.slice_size();
  std::fill(std::begin(sums), std::end(sums), Value{});
  for (std::int64_t step = a.slice_ptr[slice]; step < a.slice_ptr[slice + 1]; ++step) {
    const Stored* v = values + step * size;
    const Column* c = columns + step * size;
    const std::int32_t base = a.code.narrow ? a.base[step] : 0;
    for (int at = 0; at < size; ++at)
      if (c[at] != static_cast<Column>(-1)) sums[at] += static_cast<Value>(v[at]) * x[base + c[at]];
  }
}

template <class Value, class Stored, class Column>
void multiply_slices(const Layout<Value>& a, const Stored* values, const Column* columns,
                     std::span<const Value> x, std::span<Value> y, bool add) {
#pragma omp parallel for schedule(static)
  for (std::int64_t slice = 0; slice < a.slices(); ++slice) {
    Value sums[kLargestSlice];
    sum_slice(a, slice, values, columns, x, sums);
    const int size = a.code.slice_size();
    const std::int64_t first = slice * size;
    const auto count = static_cast<int>(std::min<std::int64_t>(size, a.slice_rows() - first));
    for (int slot = 0; slot < count; ++slot) {
      const Value sum = sums[position(slot, a.code.lane_rows)];
      Value& target = y[a.caller_row(first + slot)];
      target = add ? target + sum : sum;
    }
  }
}

template <class Value>
void multiply(const Layout<Value>& a, std::span<const Value> x, std::span<Value> y,
              Accumulate accumulate) {
  const bool add = accumulate == Accumulate::yes;
  const auto with_columns = [&](const auto* values) {
    if (a.code.narrow)
      multiply_slices(a, values, a.offsets.data(), x, y, add);
    else
      multiply_slices(a, values, a.columns.data(), x, y, add);
  };
  if (a.code.singles)
    with_columns(a.singles.data());
  else
    with_columns(a.values.data());

#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t row = 0; row < a.apart.rows; ++row) {
    Value sum{};
    for (std::int32_t k = a.apart.row_ptr[row]; k < a.apart.row_ptr[row + 1]; ++k)
      sum += a.apart.values[k] * x[a.apart.col_idx[k]];
    Value& target = y[a.long_rows[row]];
    target = add ? target + sum : sum;
  }
}

}  // namespace
}  // namespace sell

namespace {

template <class T>
std::int64_t bytes_of(const Array<T>& array) {
  return static_cast<std::int64_t>(array.size() * sizeof(T));
}

template <class Value>
class SellHost final : public HostKernel<Value> {
 public:
  explicit SellHost(const CsrView<Value>& matrix)
      : a_(matrix), layout_(sell::build(matrix, steps_)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    sell::multiply(layout_, x, y, accumulate);
  }

  void update_values(std::span<const Value> values) override {
    a_.values = values;
    sell::fill_values(a_, layout_);
  }

  KernelStatistics statistics() const override {
    const std::int64_t stored = layout_.steps() * layout_.code.slice_size() + layout_.apart.nnz();
    return {
        .stored_bytes = bytes_of(layout_.row_order) + bytes_of(layout_.slice_ptr) +
                        bytes_of(layout_.base) + bytes_of(layout_.offsets) +
                        bytes_of(layout_.columns) + bytes_of(layout_.values) +
                        bytes_of(layout_.singles) + bytes_of(layout_.long_rows) +
                        bytes_of(layout_.apart.row_ptr) + bytes_of(layout_.apart.col_idx) +
                        bytes_of(layout_.apart.values),
        .padding_ratio =
            layout_.nnz ? static_cast<double>(stored) / static_cast<double>(layout_.nnz) - 1 : 0.0,
        .steps = steps_};
  }

 private:
  CsrView<Value> a_;
  std::vector<BuildStep> steps_;
  sell::Layout<Value> layout_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_sell_host(const CsrView<Value>& matrix) {
  return std::make_unique<SellHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_sell_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_sell_host(const CsrView<float>&);

}  // namespace trireme
