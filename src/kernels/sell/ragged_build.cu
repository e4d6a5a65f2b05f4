// SPDX-License-Identifier: BSD-3-Clause
// Builds the layout of ragged rows on the device. The arrays are equal to those of
// ragged_build.cpp.
#include <algorithm>
#include <type_traits>

#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/sort.hpp"
#include "kernels/sell/build_support.cuh"
#include "kernels/sell/ragged_build_kernels.cuh"
#include "kernels/sell/ragged_device_layout.hpp"

namespace trireme::sell {
namespace {

template <class Call>
void with_lane_rows(int lane_rows, Call&& call) {
  if (lane_rows == 1)
    call(std::integral_constant<int, 1>{});
  else
    call(std::integral_constant<int, 2>{});
}

// The numbers of all counts, one after the other.
DeviceSpan<std::int32_t> numbers_of(const ScratchBuffer<Counts>& counts) {
  static_assert(sizeof(Counts) == 3 * sizeof(std::int32_t));
  return {reinterpret_cast<std::int32_t*>(counts.data()), 3 * counts.size()};
}

int blocks_for_slices(std::int64_t slices) {
  return static_cast<int>((slices + kWarps - 1) / kWarps);
}

template <class Value>
class Builder {
 public:
  Builder(const DeviceCsr<Value>& a, StreamRef stream) : a_(a), stream_(stream) {
    layout_.rows = a.rows;
    layout_.cols = a.cols;
    layout_.nnz = a.nnz;
    layout_.lane_rows = ragged_lane_rows(a.nnz);
  }

  RaggedDeviceLayout<Value> build(std::vector<BuildStep>& steps) {
    Stopwatch watch;
    sort_rows();
    cut();
    steps.push_back({"order rows", watch.lap()});
    lay_columns();
    steps.push_back({"columns", watch.lap()});
    return std::move(layout_);
  }

 private:
  SortedRows rows() const { return sorted_rows(layout_, a_.row_ptr.data()); }

 public:
  static SortedRows sorted_rows(const RaggedDeviceLayout<Value>& layout,
                                const std::int32_t* row_ptr) {
    return {static_cast<std::int32_t>(layout.rows), row_ptr, layout.row_order.data(),
            static_cast<std::int32_t>(longest_whole_row(layout.rows, layout.nnz)),
            layout.lane_rows};
  }

 private:
  void sort_rows() {
    const auto count = static_cast<std::int32_t>(a_.rows);
    layout_.row_order = DeviceBuffer<std::int32_t>(count, stream_);
    ScratchBuffer<std::uint32_t> keys(count, stream_), sorted_keys(count, stream_);
    ScratchBuffer<std::int32_t> order(count, stream_);
    make_ragged_keys<<<(count + kThreads - 1) / kThreads, kThreads, 0, stream_>>>(
        count, a_.row_ptr.data(), keys.data(), order.data());
    check_launch();
    sort_pairs(keys.view(), sorted_keys.span(), order.view(), layout_.row_order.span(), 32,
               stream_);
  }

  void cut() {
    const std::int64_t windows = (a_.rows + kRaggedWindow - 1) / kRaggedWindow;
    ScratchBuffer<Counts> counts(windows + 1, stream_), first(windows + 1, stream_);
    fill_zero(counts.span(), stream_);
    const auto blocks = static_cast<int>(windows);
    count_slices<<<blocks, kThreads, 0, stream_>>>(rows(), counts.data());
    check_launch();
    exclusive_sum_of_triples(numbers_of(counts), numbers_of(first), stream_);
    const Counts all = read_back(first.data() + windows, stream_);
    layout_.parts = all.parts;
    layout_.slices = DeviceBuffer<RaggedSlice>(all.slices, stream_);
    layout_.cut_rows = DeviceBuffer<CutRow>(all.cut_rows, stream_);
    ScratchBuffer<std::int32_t> steps(all.slices + 1, stream_);
    fill_zero(steps.span(), stream_);
    cut_slices<<<blocks, kThreads, 0, stream_>>>(rows(), first.data(), layout_.slices.data(),
                                                 layout_.cut_rows.data(), steps.data());
    check_launch();
    first_steps_ = ScratchBuffer<std::int32_t>(all.slices + 1, stream_);
    exclusive_sum(steps.view(), first_steps_.span(), stream_);
    layout_.steps = read_back(first_steps_.data() + all.slices, stream_);
  }

  void lay_columns() {
    const auto count = static_cast<std::int32_t>(layout_.slices.size());
    layout_.base = DeviceBuffer<std::int32_t>(layout_.steps, stream_);
    ScratchBuffer<std::int32_t> units(count + 1, stream_), first_unit(count + 1, stream_);
    ScratchBuffer<unsigned long long> near(1, stream_);
    fill_zero(units.span(), stream_);
    fill_zero(near.span(), stream_);
    const int blocks = blocks_for_slices(count);
    with_lane_rows(layout_.lane_rows, [&](auto lane_rows) {
      find_codes<lane_rows.value><<<blocks, kThreads, 0, stream_>>>(
          rows(), count, first_steps_.data(), layout_.cut_rows.data(), a_.col_idx.data(),
          static_cast<double>(a_.cols) / static_cast<double>(a_.rows), layout_.slices.data(),
          layout_.base.data(), units.data(), near.data());
    });
    check_launch();
    exclusive_sum(units.view(), first_unit.span(), stream_);
    layout_.local = 2 * static_cast<std::int64_t>(read_back(near.data(), stream_)) >= layout_.nnz;
    const std::int64_t all_units = read_back(first_unit.data() + count, stream_);
    layout_.columns =
        DeviceBuffer<std::uint32_t>(all_units * kColumnUnit / sizeof(std::uint32_t), stream_);
    with_lane_rows(layout_.lane_rows, [&](auto lane_rows) {
      fill_columns<lane_rows.value><<<blocks, kThreads, 0, stream_>>>(
          rows(), count, first_unit.data(), layout_.cut_rows.data(), a_.col_idx.data(),
          layout_.base.data(), layout_.slices.data(), layout_.columns.data());
    });
    check_launch();
    synchronize(stream_);
  }

  DeviceCsr<Value> a_;
  StreamRef stream_;
  RaggedDeviceLayout<Value> layout_;
  ScratchBuffer<std::int32_t> first_steps_;
};

template <class Value, class Stored>
void fill(const std::int32_t* row_ptr, const Value* values, const RaggedDeviceLayout<Value>& layout,
          DeviceBuffer<Stored>& stored, std::int32_t* inexact, StreamRef stream) {
  if (layout.steps == 0) return;
  if (stored.empty()) stored = DeviceBuffer<Stored>(layout.stored_entries(), stream);
  const auto count = static_cast<std::int32_t>(layout.slices.size());
  with_lane_rows(layout.lane_rows, [&](auto lane_rows) {
    fill_values<lane_rows.value><<<blocks_for_slices(count), kThreads, 0, stream>>>(
        Builder<Value>::sorted_rows(layout, row_ptr), count, layout.slices.data(),
        layout.cut_rows.data(), values, stored.data(), inexact);
  });
  check_launch();
}

template <class T>
std::int64_t bytes_of(const DeviceBuffer<T>& buffer) {
  return static_cast<std::int64_t>(buffer.size() * sizeof(T));
}

}  // namespace

template <class Value>
std::int64_t RaggedDeviceLayout<Value>::stored_bytes() const {
  return bytes_of(row_order) + bytes_of(slices) + bytes_of(cut_rows) + bytes_of(base) +
         bytes_of(columns) + bytes_of(values) + bytes_of(fp32_values);
}

bool has_ragged_rows(std::int64_t rows, std::int64_t nnz, DeviceSpan<const std::int32_t> row_ptr,
                     StreamRef stream) {
  if (nnz == 0) return false;
  ScratchBuffer<unsigned long long> nonzeros(1, stream);
  fill_zero(nonzeros.span(), stream);
  count_long_rows<<<static_cast<int>((rows + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      static_cast<std::int32_t>(rows), row_ptr.data(),
      static_cast<std::int32_t>(longest_row(rows, nnz)), nonzeros.data());
  check_launch();
  return is_ragged(static_cast<std::int64_t>(read_back(nonzeros.data(), stream)), nnz);
}

template <class Value>
void fill_device_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> values,
                        StoreFp32 store_fp32, RaggedDeviceLayout<Value>& layout, StreamRef stream) {
  if constexpr (std::is_same_v<Value, double>) {
    if (layout.in_fp32) {
      ScratchBuffer<std::int32_t> inexact(1, stream);
      fill_zero(inexact.span(), stream);
      fill(row_ptr.data(), values.data(), layout, layout.fp32_values, inexact.data(), stream);
      if (store_fp32 != StoreFp32::if_exact || read_back(inexact.data(), stream) == 0) return;
      layout.in_fp32 = false;
      layout.fp32_values = {};
    }
  }
  fill(row_ptr.data(), values.data(), layout, layout.values, nullptr, stream);
}

template <class Value>
RaggedDeviceLayout<Value> build_ragged_on_device(const DeviceCsr<Value>& matrix,
                                                 StoreFp32 store_fp32,
                                                 std::vector<BuildStep>& steps, StreamRef stream) {
  RaggedDeviceLayout<Value> layout = Builder<Value>(matrix, stream).build(steps);
  const Stopwatch watch;
  layout.in_fp32 = store_fp32 == StoreFp32::always;
  if constexpr (std::is_same_v<Value, double>)
    if (store_fp32 == StoreFp32::if_exact) {
      ScratchBuffer<std::int32_t> inexact(1, stream);
      fill_zero(inexact.span(), stream);
      survey_values<<<2048, kThreads, 0, stream>>>(matrix.nnz, matrix.values.data(),
                                                   inexact.data());
      check_launch();
      layout.in_fp32 = read_back(inexact.data(), stream) == 0;
    }
  fill_device_values(matrix.row_ptr, matrix.values,
                     layout.in_fp32 ? StoreFp32::always : StoreFp32::never, layout, stream);
  synchronize(stream);
  steps.push_back({"values", watch.seconds()});
  return layout;
}

template struct RaggedDeviceLayout<double>;
template struct RaggedDeviceLayout<float>;
template struct RaggedDeviceLayout<Half>;
template RaggedDeviceLayout<double> build_ragged_on_device(const DeviceCsr<double>&, StoreFp32,
                                                           std::vector<BuildStep>&, StreamRef);
template RaggedDeviceLayout<float> build_ragged_on_device(const DeviceCsr<float>&, StoreFp32,
                                                          std::vector<BuildStep>&, StreamRef);
template RaggedDeviceLayout<Half> build_ragged_on_device(const DeviceCsr<Half>&, StoreFp32,
                                                         std::vector<BuildStep>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const double>,
                                 StoreFp32, RaggedDeviceLayout<double>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const float>, StoreFp32,
                                 RaggedDeviceLayout<float>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const Half>, StoreFp32,
                                 RaggedDeviceLayout<Half>&, StreamRef);

}  // namespace trireme::sell
