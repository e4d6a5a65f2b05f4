// SPDX-License-Identifier: BSD-3-Clause
// Builds the SELL layout on the device. The arrays are equal to those of build.cpp.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/sort.hpp"
#include "kernels/sell/build_kernels.cuh"
#include "kernels/sell/build_support.cuh"
#include "kernels/sell/device_layout.hpp"
#include "kernels/sell/patterns_cuda.hpp"

namespace trireme::sell {
namespace {

// The number of steps that fill_slices transposes at a time, and the shared memory for them. Slices
// of the mean width decide it: more shared memory would leave room for fewer warps.
struct Transposition {
  int steps;

  template <class T>
  std::size_t bytes() const {
    return kWarps * transposed_size(steps) * sizeof(T);
  }
};
template <class Value>
Transposition transposition(const DeviceLayout<Value>& layout) {
  const auto mean = static_cast<std::uint64_t>((layout.steps + layout.slices - 1) / layout.slices);
  return {static_cast<int>(std::clamp<std::uint64_t>(std::bit_ceil(mean), 8, 32))};
}

template <class Value>
class Builder {
 public:
  Builder(const DeviceCsr<Value>& a, StreamRef stream)
      : a_(a), stream_(stream), findings_(1, stream) {
    fill_zero(findings_.span(), stream_);
    layout_.rows = a.rows;
    layout_.cols = a.cols;
    layout_.nnz = a.nnz;
    layout_.form.lane_rows = rows_of_lane(a.rows, a.nnz, true);
  }

  DeviceLayout<Value> build(StoreFp32 store_fp32, std::vector<BuildStep>& steps) {
    Stopwatch watch;
    survey_lengths();
    const Findings survey = read_back(findings_.data(), stream_);
    longest_in_slices_ = survey.longest_in_slices;
    const std::int64_t natural_entries =
        static_cast<std::int64_t>(survey.natural_steps) * layout_.form.slice_size();
    if (!keeps_order(a_.nnz, survey.long_rows, natural_entries)) sort_rows(survey.long_rows);
    cut_slices();
    steps.push_back({"order rows", watch.lap()});
    lay_columns();
    set_rows_apart();
    steps.push_back({"columns", watch.lap()});
    layout_.form.in_fp32 = store_fp32 == StoreFp32::always ||
                           (store_fp32 == StoreFp32::if_exact && values_are_exact());
    synchronize(stream_);
    return std::move(layout_);
  }

 private:
  RowsOfSlices rows() const {
    return {static_cast<std::int32_t>(layout_.slice_rows()), a_.row_ptr.data(),
            layout_.form.sorted ? layout_.row_order.data() : nullptr, layout_.form.lane_rows};
  }

  void survey_lengths() {
    const std::int64_t slices =
        (a_.rows + layout_.form.slice_size() - 1) / layout_.form.slice_size();
    if (slices > 0)
      survey_rows<<<std::min(blocks_for_warps(slices), kSurveyBlocks), kThreads, 0, stream_>>>(
          rows(), slices, longest_row(a_.rows, a_.nnz), findings_.data());
    check_launch();
  }

  // True where FP32 holds all values. Those of repeated rows are checked when they are stored.
  bool values_are_exact() {
    if constexpr (std::is_same_v<Value, double>) {
      if (layout_.form.repeated || a_.nnz == 0) return true;
      survey_values<<<2048, kThreads, 0, stream_>>>(a_.nnz, a_.values.data(),
                                                    &findings_.data()->inexact);
      check_launch();
      return read_back(findings_.data(), stream_).inexact == 0;
    }
    return false;
  }

  void sort_rows(std::int64_t long_rows) {
    const auto count = static_cast<std::int32_t>(a_.rows);
    layout_.form.sorted = true;
    layout_.apart_rows = long_rows;
    layout_.row_order = DeviceBuffer<std::int32_t>(count, stream_);
    ScratchBuffer<std::uint32_t> keys(count, stream_), sorted_keys(count, stream_);
    ScratchBuffer<std::int32_t> order(count, stream_);
    if (count == 0) return;
    make_keys<<<blocks_for(count), kThreads, 0, stream_>>>(
        count, a_.row_ptr.data(), longest_row(a_.rows, a_.nnz), keys.data(), order.data());
    check_launch();
    sort_pairs(keys.view(), sorted_keys.span(), order.view(), layout_.row_order.span(), 32,
               stream_);
  }

  void cut_slices() {
    layout_.slices =
        (layout_.slice_rows() + layout_.form.slice_size() - 1) / layout_.form.slice_size();
    ScratchBuffer<std::int32_t> widths(layout_.slices + 1, stream_);
    layout_.slice_ptr = DeviceBuffer<std::int32_t>(layout_.slices + 1, stream_);
    find_widths<<<blocks_for_warps(layout_.slices + 1), kThreads, 0, stream_>>>(
        rows(), layout_.slices, widths.data());
    check_launch();
    exclusive_sum(widths.view(), layout_.slice_ptr.span(), stream_);
    layout_.steps = read_back(layout_.slice_ptr.data() + layout_.slices, stream_);
  }

  // Sets form.narrow. Where the columns are wide, lanes have fewer rows and the slices are cut
  // again.
  void find_column_code() {
    layout_.base = DeviceBuffer<std::int32_t>(layout_.steps, stream_);
    find_bases<<<blocks_for_warps(layout_.slices), kThreads, 0, stream_>>>(
        rows(), layout_.slices, a_.col_idx.data(), layout_.slice_ptr.data(), layout_.base.data(),
        findings_.data());
    check_launch();
    layout_.form.narrow = read_back(findings_.data(), stream_).largest_spread <= kLargestOffset;
    if (layout_.form.narrow) return;
    layout_.base = {};
    const int lane_rows = rows_of_lane(a_.rows, a_.nnz, false);
    if (lane_rows == layout_.form.lane_rows) return;
    layout_.form.lane_rows = lane_rows;
    cut_slices();
  }

  // Sets form.patterned where the rows have few patterns, `with_values` or without.
  void find_row_patterns(bool with_values) {
    const int lane_rows = with_values ? 1 : layout_.form.lane_rows;
    DevicePatterns found = find_patterns(
        PatternRows<Value>{
            .nnz = a_.nnz,
            .slice_rows = layout_.slice_rows(),
            .slices = (layout_.slice_rows() + kLanes * lane_rows - 1) / (kLanes * lane_rows),
            .longest = longest_in_slices_,
            .lane_rows = lane_rows,
            .row_ptr = a_.row_ptr.data(),
            .col_idx = a_.col_idx.data(),
            .row_order = layout_.form.sorted ? layout_.row_order.data() : nullptr,
            .values = with_values ? a_.values.data() : nullptr},
        stream_);
    layout_.form.patterned = !found.of_rows.empty();
    layout_.patterns = std::move(found.of_rows);
    layout_.differences = std::move(found.differences);
    layout_.pattern_width = layout_.form.patterned ? found.width : 0;
    if (!with_values || !layout_.form.patterned) return;
    layout_.form.repeated = true;
    layout_.pattern_rows = std::move(found.pattern_rows);
    if (layout_.form.lane_rows == 1) return;
    layout_.form.lane_rows = 1;
    cut_slices();
  }

  void lay_columns() {
    if (layout_.steps > 0 && layout_.apart_rows == 0) find_row_patterns(true);
    if (layout_.steps > 0 && !layout_.form.patterned) find_row_patterns(false);
    if (layout_.form.patterned) return;
    layout_.form.narrow = true;
    if (layout_.steps == 0) return;
    find_column_code();
    const int blocks = blocks_for_warps(layout_.slices * layout_.form.lane_rows);
    const std::int64_t stored = layout_.steps * layout_.form.slice_size();
    if (layout_.form.narrow)
      layout_.offsets = DeviceBuffer<std::uint16_t>(stored, stream_);
    else
      layout_.columns = DeviceBuffer<std::int32_t>(stored, stream_);
    const Transposition block = transposition(layout_);
    if (layout_.form.narrow)
      fill_offsets<<<blocks, kThreads, block.bytes<std::uint16_t>(), stream_>>>(
          rows(), layout_.slices, layout_.slice_ptr.data(), block.steps, a_.col_idx.data(),
          layout_.base.data(), layout_.offsets.data());
    else
      fill_columns<<<blocks, kThreads, block.bytes<std::int32_t>(), stream_>>>(
          rows(), layout_.slices, layout_.slice_ptr.data(), block.steps, a_.col_idx.data(),
          layout_.columns.data());
    check_launch();
  }

  void set_rows_apart() {
    const auto count = static_cast<std::int32_t>(layout_.apart_rows);
    if (count == 0) return;
    const std::int32_t* rows_apart = layout_.row_order.data() + layout_.slice_rows();
    ScratchBuffer<std::int32_t> lengths(count + 1, stream_);
    layout_.apart_row_ptr = DeviceBuffer<std::int32_t>(count + 1, stream_);
    apart_lengths<<<blocks_for(count + 1), kThreads, 0, stream_>>>(
        count, rows_apart, a_.row_ptr.data(), lengths.data());
    check_launch();
    exclusive_sum(lengths.view(), layout_.apart_row_ptr.span(), stream_);
    layout_.apart_nnz = read_back(layout_.apart_row_ptr.data() + count, stream_);
    layout_.apart_col_idx = DeviceBuffer<std::int32_t>(layout_.apart_nnz, stream_);
    copy_apart<<<blocks_for(layout_.apart_nnz), kThreads, 0, stream_>>>(
        layout_.apart_nnz, count, rows_apart, a_.row_ptr.data(), layout_.apart_row_ptr.data(),
        a_.col_idx.data(), layout_.apart_col_idx.data(), nullptr);
    check_launch();
  }

  DeviceCsr<Value> a_;
  StreamRef stream_;
  ScratchBuffer<Findings> findings_;
  DeviceLayout<Value> layout_;
  std::int32_t longest_in_slices_ = 0;  // nonzeros of the longest row
};

// Stores all values. Sets *inexact, unless it is null, where Stored cannot hold a value.
template <class Value, class Stored>
void fill(const std::int32_t* row_ptr, const Value* values, const DeviceLayout<Value>& layout,
          DeviceBuffer<Stored>& stored, DeviceBuffer<Stored>& apart, std::int32_t* inexact,
          StreamRef stream) {
  if (layout.form.repeated) {
    if (stored.empty()) stored = DeviceBuffer<Stored>(layout.differences.size(), stream);
    fill_repeated_rows<<<static_cast<unsigned>(layout.pattern_rows.size()), kThreads, 0, stream>>>(
        row_ptr, layout.pattern_rows.data(), layout.pattern_width, values, stored.data(), inexact);
    check_launch();
    return;
  }
  const std::int32_t* order = layout.form.sorted ? layout.row_order.data() : nullptr;
  if (layout.steps > 0) {
    if (stored.empty())
      stored = DeviceBuffer<Stored>(layout.steps * layout.form.slice_size(), stream);
    const Transposition block = transposition(layout);
    const int blocks = blocks_for_warps(layout.slices * layout.form.lane_rows);
    fill_slice_values<<<blocks, kThreads, block.template bytes<Stored>(), stream>>>(
        RowsOfSlices{static_cast<std::int32_t>(layout.slice_rows()), row_ptr, order,
                     layout.form.lane_rows},
        layout.slices, layout.slice_ptr.data(), block.steps, values, stored.data(), inexact);
    check_launch();
  }
  if (layout.apart_nnz > 0) {
    if (apart.empty()) apart = DeviceBuffer<Stored>(layout.apart_nnz, stream);
    copy_apart<<<blocks_for(layout.apart_nnz), kThreads, 0, stream>>>(
        layout.apart_nnz, layout.apart_rows, order + layout.slice_rows(), row_ptr,
        layout.apart_row_ptr.data(), values, apart.data(), inexact);
    check_launch();
  }
}

// The same in FP32 or in Value, and moves to Value where FP32 is not exact.
template <class Value>
void store_values(const std::int32_t* row_ptr, const Value* values, StoreFp32 store_fp32,
                  DeviceLayout<Value>& layout, StreamRef stream) {
  if constexpr (std::is_same_v<Value, double>) {
    if (layout.form.in_fp32) {
      ScratchBuffer<std::int32_t> inexact(1, stream);
      fill_zero(inexact.span(), stream);
      fill(row_ptr, values, layout, layout.fp32_values, layout.apart_fp32, inexact.data(), stream);
      if (store_fp32 != StoreFp32::if_exact || read_back(inexact.data(), stream) == 0) return;
      layout.form.in_fp32 = false;
      layout.fp32_values = {};
      layout.apart_fp32 = {};
    }
  }
  fill(row_ptr, values, layout, layout.values, layout.apart_values, nullptr, stream);
}

// Stores the values of the patterns of repeated rows. Returns false where the rows do not repeat
// with these values, which are then not stored.
template <class Value>
bool store_repeated_values(const std::int32_t* row_ptr, const Value* values, StoreFp32 store_fp32,
                           DeviceLayout<Value>& layout, StreamRef stream) {
  ScratchBuffer<std::int32_t> flags(2, stream);  // a row differs; FP32 is not exact
  fill_zero(flags.span(), stream);
  find_rows_that_differ(
      PatternRows<Value>{.nnz = layout.nnz,
                         .slice_rows = layout.slice_rows(),
                         .slices = layout.slices,
                         .row_ptr = row_ptr,
                         .row_order = layout.form.sorted ? layout.row_order.data() : nullptr,
                         .values = values},
      layout.patterns, layout.pattern_rows, layout.pattern_width, flags.data(), stream);
  if constexpr (std::is_same_v<Value, double>)
    if (layout.form.in_fp32)
      fill(row_ptr, values, layout, layout.fp32_values, layout.apart_fp32, flags.data() + 1,
           stream);
  if (!layout.form.in_fp32)
    fill(row_ptr, values, layout, layout.values, layout.apart_values, nullptr, stream);
  const Array<std::int32_t> found = to_host(flags.view(), stream);
  if (found[0] != 0) return false;
  if (found[1] == 0 || store_fp32 != StoreFp32::if_exact) return true;
  layout.form.in_fp32 = false;
  layout.fp32_values = {};
  fill(row_ptr, values, layout, layout.values, layout.apart_values, nullptr, stream);
  return true;
}

template <class T>
std::int64_t bytes_of(const DeviceBuffer<T>& buffer) {
  return static_cast<std::int64_t>(buffer.size() * sizeof(T));
}

}  // namespace

template <class Value>
std::int64_t DeviceLayout<Value>::stored_bytes() const {
  return bytes_of(row_order) + bytes_of(slice_ptr) + bytes_of(base) + bytes_of(columns) +
         bytes_of(offsets) + bytes_of(patterns) + bytes_of(differences) + bytes_of(pattern_rows) +
         bytes_of(values) + bytes_of(fp32_values) + bytes_of(apart_row_ptr) +
         bytes_of(apart_col_idx) + bytes_of(apart_values) + bytes_of(apart_fp32);
}

template <class Value>
void fill_device_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> values,
                        StoreFp32 store_fp32, DeviceLayout<Value>& layout, StreamRef stream) {
  if (layout.form.repeated) {
    if (store_repeated_values(row_ptr.data(), values.data(), store_fp32, layout, stream)) return;
    layout.form.repeated = false;
    layout.values = {};
    layout.fp32_values = {};
  }
  store_values(row_ptr.data(), values.data(), store_fp32, layout, stream);
}

template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StoreFp32 store_fp32,
                                    std::vector<BuildStep>& steps, StreamRef stream) {
  DeviceLayout<Value> layout = Builder<Value>(matrix, stream).build(store_fp32, steps);
  const Stopwatch watch;
  // The builder has checked these values, those of repeated rows apart, so that they are not
  // checked again.
  const StoreFp32 of_store = layout.form.repeated  ? store_fp32
                             : layout.form.in_fp32 ? StoreFp32::always
                                                   : StoreFp32::never;
  store_values(matrix.row_ptr.data(), matrix.values.data(), of_store, layout, stream);
  synchronize(stream);
  steps.push_back({"values", watch.seconds()});
  return layout;
}

template struct DeviceLayout<double>;
template struct DeviceLayout<float>;
template struct DeviceLayout<Half>;
template DeviceLayout<double> build_on_device(const DeviceCsr<double>&, StoreFp32,
                                              std::vector<BuildStep>&, StreamRef);
template DeviceLayout<float> build_on_device(const DeviceCsr<float>&, StoreFp32,
                                             std::vector<BuildStep>&, StreamRef);
template DeviceLayout<Half> build_on_device(const DeviceCsr<Half>&, StoreFp32,
                                            std::vector<BuildStep>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const double>,
                                 StoreFp32, DeviceLayout<double>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const float>, StoreFp32,
                                 DeviceLayout<float>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const Half>, StoreFp32,
                                 DeviceLayout<Half>&, StreamRef);

}  // namespace trireme::sell
