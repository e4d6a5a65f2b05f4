// SPDX-License-Identifier: BSD-3-Clause
// Builds the SELL layout on the device; gives the arrays of build.cpp. A warp a slice throughout.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "base/stopwatch.hpp"
#include "kernels/numeric.cuh"
#include "kernels/sell/device_layout.hpp"

namespace trireme::sell {
namespace {

constexpr int kThreads = 256;
// A lane reads this many entries of a row before it goes to its next row: a sector of columns.
constexpr int kChunk = 8;

// What the host must know to go on.
struct Findings {
  unsigned long long natural_steps = 0;
  std::int32_t long_rows = 0;
  std::int32_t inexact = 0;         // some value is not exact in FP32
  std::int32_t largest_spread = 0;  // of the columns of a step
};

struct RowsOfSlices {
  std::int32_t count;           // rows in slices
  const std::int32_t* row_ptr;  // of the caller's CSR
  const std::int32_t* order;    // nullptr: the caller's order
  int lane_rows;

  __device__ std::int32_t caller(std::int32_t row) const { return order ? order[row] : row; }
  // Row r of this lane.
  __device__ std::int32_t row(std::int32_t slice, int r) const {
    return (slice * lane_rows + r) * kLanes + threadIdx.x % kLanes;
  }
  __device__ std::int32_t length(std::int32_t row) const {
    if (row >= count) return 0;
    const std::int32_t i = caller(row);
    return row_ptr[i + 1] - row_ptr[i];
  }
};

int blocks_for_warps(std::int64_t warps) {
  return static_cast<int>((warps * 32 + kThreads - 1) / kThreads);
}
int blocks_for(std::int64_t threads) {
  return static_cast<int>((threads + kThreads - 1) / kThreads);
}

__device__ std::int32_t this_warp() {
  return static_cast<std::int32_t>(
      (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32);
}
__device__ int this_lane() { return threadIdx.x % 32; }

// The longest row of this warp's slice, in every lane.
__device__ std::int32_t slice_width(const RowsOfSlices& rows, std::int32_t slice) {
  std::int32_t width = 0;
  for (int r = 0; r < rows.lane_rows; ++r) width = max(width, rows.length(rows.row(slice, r)));
  return __reduce_max_sync(0xffffffffu, width);
}

__global__ void __launch_bounds__(kThreads)
    survey_rows(RowsOfSlices rows, std::int32_t slices, std::int32_t longest, Findings* findings) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  const std::int32_t width = slice_width(rows, slice);
  int long_rows = 0;
  for (int r = 0; r < rows.lane_rows; ++r) long_rows += rows.length(rows.row(slice, r)) > longest;
  long_rows = __reduce_add_sync(0xffffffffu, long_rows);
  if (this_lane() != 0) return;
  atomicAdd(&findings->natural_steps, static_cast<unsigned long long>(width));
  if (long_rows > 0) atomicAdd(&findings->long_rows, long_rows);
}

template <class Value>
__global__ void survey_values(std::int64_t nnz, const Value* values, std::int32_t* inexact) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  bool found = false;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; k < nnz;
       k += stride)
    found = found || !(static_cast<Value>(static_cast<float>(values[k])) == values[k]);
  if (__any_sync(0xffffffffu, found) && this_lane() == 0) *inexact = 1;
}

__global__ void make_keys(std::int32_t rows, const std::int32_t* row_ptr, std::int32_t longest,
                          std::uint32_t* keys, std::int32_t* order) {
  const std::int32_t row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= rows) return;
  keys[row] = sort_key(row, row_ptr[row + 1] - row_ptr[row], longest);
  order[row] = row;
}

__global__ void __launch_bounds__(kThreads)
    find_widths(RowsOfSlices rows, std::int32_t slices, std::int32_t* widths) {
  const std::int32_t slice = this_warp();
  if (slice > slices) return;
  const std::int32_t width = slice < slices ? slice_width(rows, slice) : 0;
  if (this_lane() == 0) widths[slice] = width;
}

__global__ void __launch_bounds__(kThreads)
    find_bases(RowsOfSlices rows, std::int32_t slices, const std::int32_t* col_idx,
               const std::int32_t* slice_ptr, std::int32_t* base, Findings* findings) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  std::int32_t first[kMostLaneRows], length[kMostLaneRows];
  for (int r = 0; r < rows.lane_rows; ++r) {
    const std::int32_t row = rows.row(slice, r);
    length[r] = rows.length(row);
    first[r] = length[r] > 0 ? rows.row_ptr[rows.caller(row)] : 0;
  }
  const std::int32_t begin = slice_ptr[slice];
  const std::int32_t steps = slice_ptr[slice + 1] - begin;
  std::int32_t spread = 0;
  for (std::int32_t chunk = 0; chunk < steps; chunk += kChunk) {
    std::int32_t low[kChunk], high[kChunk];
#pragma unroll
    for (int s = 0; s < kChunk; ++s) {
      low[s] = 0x7fffffff;
      high[s] = 0;
    }
    for (int r = 0; r < rows.lane_rows; ++r)
#pragma unroll
      for (int s = 0; s < kChunk; ++s)
        if (chunk + s < length[r]) {
          const std::int32_t column = col_idx[first[r] + chunk + s];
          low[s] = min(low[s], column);
          high[s] = max(high[s], column);
        }
#pragma unroll
    for (int s = 0; s < kChunk; ++s) {
      if (chunk + s >= steps) break;  // the same for the whole warp
      low[s] = __reduce_min_sync(0xffffffffu, low[s]);
      spread =
          max(spread, static_cast<std::int32_t>(__reduce_max_sync(0xffffffffu, high[s])) - low[s]);
      if (this_lane() == 0) base[begin + chunk + s] = low[s];
    }
  }
  if (this_lane() == 0 && spread > kLargestOffset) atomicMax(&findings->largest_spread, spread);
}

// Calls body(index in the layout's arrays, entry of the CSR or -1, step) for every stored entry of
// this warp's slice.
template <class Body>
__device__ void for_each_entry(const RowsOfSlices& rows, const std::int32_t* slice_ptr,
                               std::int32_t slice, Body&& body) {
  std::int32_t first[kMostLaneRows], length[kMostLaneRows];
  for (int r = 0; r < rows.lane_rows; ++r) {
    const std::int32_t row = rows.row(slice, r);
    length[r] = rows.length(row);
    first[r] = length[r] > 0 ? rows.row_ptr[rows.caller(row)] : 0;
  }
  const std::int32_t begin = slice_ptr[slice];
  const std::int32_t steps = slice_ptr[slice + 1] - begin;
  for (std::int32_t chunk = 0; chunk < steps; chunk += kChunk)
    for (int r = 0; r < rows.lane_rows; ++r)
#pragma unroll
      for (int s = 0; s < kChunk; ++s) {
        const std::int32_t step = chunk + s;
        if (step < steps)
          body(
              (static_cast<std::int64_t>(begin + step) * kLanes + this_lane()) * rows.lane_rows + r,
              step < length[r] ? first[r] + step : -1, begin + step);
      }
}

// Exactly one of offsets and columns is given.
__global__ void __launch_bounds__(kThreads)
    fill_columns(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                 const std::int32_t* col_idx, const std::int32_t* base, std::uint16_t* offsets,
                 std::int32_t* columns) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  for_each_entry(
      rows, slice_ptr, slice, [&](std::int64_t at, std::int32_t entry, std::int32_t step) {
        if (offsets)
          offsets[at] =
              entry < 0 ? kNoOffset : static_cast<std::uint16_t>(col_idx[entry] - base[step]);
        else
          columns[at] = entry < 0 ? kNoColumn : col_idx[entry];
      });
}

template <class Value, class Stored>
__global__ void __launch_bounds__(kThreads)
    fill_slice_values(RowsOfSlices rows, std::int32_t slices, const std::int32_t* slice_ptr,
                      const Value* values, Stored* stored) {
  const std::int32_t slice = this_warp();
  if (slice >= slices) return;
  for_each_entry(rows, slice_ptr, slice, [&](std::int64_t at, std::int32_t entry, std::int32_t) {
    store(stored + at, entry < 0 ? Sum<Value>{} : load<Sum<Value>>(values + entry));
  });
}

__global__ void apart_lengths(std::int32_t count, const std::int32_t* rows,
                              const std::int32_t* row_ptr, std::int32_t* lengths) {
  const std::int32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i > count) return;
  lengths[i] = i < count ? row_ptr[rows[i] + 1] - row_ptr[rows[i]] : 0;
}

// A warp a row kept apart.
template <class From, class To>
__global__ void copy_apart(std::int32_t count, const std::int32_t* rows,
                           const std::int32_t* row_ptr, const std::int32_t* apart_row_ptr,
                           const From* from, To* to) {
  const std::int32_t i = this_warp();
  if (i >= count) return;
  const std::int32_t source = row_ptr[rows[i]];
  const std::int32_t target = apart_row_ptr[i];
  const std::int32_t length = apart_row_ptr[i + 1] - target;
  for (std::int32_t k = this_lane(); k < length; k += 32)
    store(to + target + k, load<Sum<From>>(from + source + k));
}

template <class Call>
void with_workspace(StreamRef stream, Call&& call) {
  std::size_t bytes = 0;
  cuda_check(call(nullptr, bytes));
  ScratchBuffer<std::byte> workspace(bytes, stream);
  cuda_check(call(workspace.data(), bytes));
}

void scan(const std::int32_t* from, std::int32_t* to, std::int64_t count, StreamRef stream) {
  with_workspace(stream, [&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, from, to, count, stream);
  });
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
    layout_.code.lane_rows = rows_of_lane(a.rows, true);
  }

  DeviceLayout<Value> build(Singles singles, std::vector<BuildStep>& steps) {
    Stopwatch watch;
    survey(singles);
    const Findings survey = read_back(findings_.data(), stream_);
    const std::int64_t natural_entries =
        static_cast<std::int64_t>(survey.natural_steps) * layout_.code.slice_size();
    if (!keeps_order(a_.nnz, survey.long_rows, natural_entries)) sort_rows(survey.long_rows);
    cut_slices();
    steps.push_back({"order rows", watch.lap()});
    lay_columns();
    set_rows_apart();
    steps.push_back({"columns", watch.lap()});
    layout_.code.singles =
        singles == Singles::always || (singles == Singles::if_exact && survey.inexact == 0);
    synchronize(stream_);
    return std::move(layout_);
  }

 private:
  RowsOfSlices rows() const {
    return {static_cast<std::int32_t>(layout_.slice_rows()), a_.row_ptr.data(),
            layout_.code.sorted ? layout_.row_order.data() : nullptr, layout_.code.lane_rows};
  }

  void survey(Singles singles) {
    const std::int64_t slices =
        (a_.rows + layout_.code.slice_size() - 1) / layout_.code.slice_size();
    if (slices > 0)
      survey_rows<<<blocks_for_warps(slices), kThreads, 0, stream_>>>(
          rows(), slices, longest_row(a_.rows, a_.nnz), findings_.data());
    if constexpr (std::is_same_v<Value, double>)
      if (singles == Singles::if_exact && a_.nnz > 0)
        survey_values<<<1024, kThreads, 0, stream_>>>(a_.nnz, a_.values.data(),
                                                      &findings_.data()->inexact);
    check_launch();
  }

  void sort_rows(std::int64_t long_rows) {
    const auto count = static_cast<std::int32_t>(a_.rows);
    layout_.code.sorted = true;
    layout_.apart_rows = long_rows;
    layout_.row_order = DeviceBuffer<std::int32_t>(count, stream_);
    ScratchBuffer<std::uint32_t> keys(count, stream_), sorted_keys(count, stream_);
    ScratchBuffer<std::int32_t> order(count, stream_);
    if (count == 0) return;
    make_keys<<<blocks_for(count), kThreads, 0, stream_>>>(
        count, a_.row_ptr.data(), longest_row(a_.rows, a_.nnz), keys.data(), order.data());
    check_launch();
    with_workspace(stream_, [&](void* space, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(space, bytes, keys.data(), sorted_keys.data(),
                                             order.data(), layout_.row_order.data(), count, 0, 32,
                                             stream_);
    });
  }

  void cut_slices() {
    layout_.slices =
        (layout_.slice_rows() + layout_.code.slice_size() - 1) / layout_.code.slice_size();
    ScratchBuffer<std::int32_t> widths(layout_.slices + 1, stream_);
    layout_.slice_ptr = DeviceBuffer<std::int32_t>(layout_.slices + 1, stream_);
    find_widths<<<blocks_for_warps(layout_.slices + 1), kThreads, 0, stream_>>>(
        rows(), layout_.slices, widths.data());
    check_launch();
    scan(widths.data(), layout_.slice_ptr.data(), layout_.slices + 1, stream_);
    layout_.steps = read_back(layout_.slice_ptr.data() + layout_.slices, stream_);
  }

  // Sets code.narrow; slices are cut again for lanes of other sizes where columns are wide.
  void find_column_code() {
    layout_.base = DeviceBuffer<std::int32_t>(layout_.steps, stream_);
    find_bases<<<blocks_for_warps(layout_.slices), kThreads, 0, stream_>>>(
        rows(), layout_.slices, a_.col_idx.data(), layout_.slice_ptr.data(), layout_.base.data(),
        findings_.data());
    check_launch();
    layout_.code.narrow = read_back(findings_.data(), stream_).largest_spread <= kLargestOffset;
    if (layout_.code.narrow) return;
    layout_.base = {};
    const int lane_rows = rows_of_lane(a_.rows, false);
    if (lane_rows == layout_.code.lane_rows) return;
    layout_.code.lane_rows = lane_rows;
    cut_slices();
  }

  void lay_columns() {
    layout_.code.narrow = true;
    if (layout_.steps == 0) return;
    find_column_code();
    const int blocks = blocks_for_warps(layout_.slices);
    const std::int64_t stored = layout_.steps * layout_.code.slice_size();
    if (layout_.code.narrow)
      layout_.offsets = DeviceBuffer<std::uint16_t>(stored, stream_);
    else
      layout_.columns = DeviceBuffer<std::int32_t>(stored, stream_);
    fill_columns<<<blocks, kThreads, 0, stream_>>>(rows(), layout_.slices, layout_.slice_ptr.data(),
                                                   a_.col_idx.data(), layout_.base.data(),
                                                   layout_.offsets.data(), layout_.columns.data());
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
    scan(lengths.data(), layout_.apart_row_ptr.data(), count + 1, stream_);
    layout_.apart_nnz = read_back(layout_.apart_row_ptr.data() + count, stream_);
    layout_.apart_col_idx = DeviceBuffer<std::int32_t>(layout_.apart_nnz, stream_);
    copy_apart<<<blocks_for_warps(count), kThreads, 0, stream_>>>(
        count, rows_apart, a_.row_ptr.data(), layout_.apart_row_ptr.data(), a_.col_idx.data(),
        layout_.apart_col_idx.data());
    check_launch();
  }

  DeviceCsr<Value> a_;
  StreamRef stream_;
  ScratchBuffer<Findings> findings_;
  DeviceLayout<Value> layout_;
};

template <class Value, class Stored>
void fill(const std::int32_t* row_ptr, const Value* values, const DeviceLayout<Value>& layout,
          DeviceBuffer<Stored>& stored, DeviceBuffer<Stored>& apart, StreamRef stream) {
  const std::int32_t* order = layout.code.sorted ? layout.row_order.data() : nullptr;
  if (layout.steps > 0) {
    if (stored.empty())
      stored = DeviceBuffer<Stored>(layout.steps * layout.code.slice_size(), stream);
    fill_slice_values<<<blocks_for_warps(layout.slices), kThreads, 0, stream>>>(
        RowsOfSlices{static_cast<std::int32_t>(layout.slice_rows()), row_ptr, order,
                     layout.code.lane_rows},
        layout.slices, layout.slice_ptr.data(), values, stored.data());
    check_launch();
  }
  if (layout.apart_nnz > 0) {
    if (apart.empty()) apart = DeviceBuffer<Stored>(layout.apart_nnz, stream);
    copy_apart<<<blocks_for_warps(layout.apart_rows), kThreads, 0, stream>>>(
        layout.apart_rows, order + layout.slice_rows(), row_ptr, layout.apart_row_ptr.data(),
        values, apart.data());
    check_launch();
  }
}

template <class T>
std::int64_t bytes_of(const DeviceBuffer<T>& buffer) {
  return static_cast<std::int64_t>(buffer.size() * sizeof(T));
}

}  // namespace

template <class Value>
std::int64_t DeviceLayout<Value>::stored_bytes() const {
  return bytes_of(row_order) + bytes_of(slice_ptr) + bytes_of(base) + bytes_of(columns) +
         bytes_of(offsets) + bytes_of(values) + bytes_of(singles) + bytes_of(apart_row_ptr) +
         bytes_of(apart_col_idx) + bytes_of(apart_values) + bytes_of(apart_singles);
}

template <class Value>
void fill_device_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const Value> values,
                        Singles singles, DeviceLayout<Value>& layout, StreamRef stream) {
  if constexpr (std::is_same_v<Value, double>) {
    if (layout.code.singles && singles == Singles::if_exact && !values.empty()) {
      ScratchBuffer<std::int32_t> inexact(1, stream);
      fill_zero(inexact.span(), stream);
      survey_values<<<1024, kThreads, 0, stream>>>(static_cast<std::int64_t>(values.size()),
                                                   values.data(), inexact.data());
      check_launch();
      if (read_back(inexact.data(), stream) != 0) {
        layout.code.singles = false;
        layout.singles = {};
        layout.apart_singles = {};
      }
    }
    if (layout.code.singles)
      return fill(row_ptr.data(), values.data(), layout, layout.singles, layout.apart_singles,
                  stream);
  }
  fill(row_ptr.data(), values.data(), layout, layout.values, layout.apart_values, stream);
}

template <class Value>
DeviceLayout<Value> build_device_layout(const DeviceCsr<Value>& matrix, Singles singles,
                                        std::vector<BuildStep>& steps, StreamRef stream) {
  DeviceLayout<Value> layout = Builder<Value>(matrix, stream).build(singles, steps);
  const Stopwatch watch;
  // The survey has just looked at these values: no second look.
  fill_device_values(matrix.row_ptr, matrix.values,
                     layout.code.singles ? Singles::always : Singles::never, layout, stream);
  synchronize(stream);
  steps.push_back({"values", watch.seconds()});
  return layout;
}

template struct DeviceLayout<double>;
template struct DeviceLayout<float>;
template struct DeviceLayout<Half>;
template DeviceLayout<double> build_device_layout(const DeviceCsr<double>&, Singles,
                                                  std::vector<BuildStep>&, StreamRef);
template DeviceLayout<float> build_device_layout(const DeviceCsr<float>&, Singles,
                                                 std::vector<BuildStep>&, StreamRef);
template DeviceLayout<Half> build_device_layout(const DeviceCsr<Half>&, Singles,
                                                std::vector<BuildStep>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const double>, Singles,
                                 DeviceLayout<double>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const float>, Singles,
                                 DeviceLayout<float>&, StreamRef);
template void fill_device_values(DeviceSpan<const std::int32_t>, DeviceSpan<const Half>, Singles,
                                 DeviceLayout<Half>&, StreamRef);

}  // namespace trireme::sell
