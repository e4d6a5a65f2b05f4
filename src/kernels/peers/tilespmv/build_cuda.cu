// SPDX-License-Identifier: BSD-3-Clause
// Builds the TileSpMV layout on the GPU, with the rule and the functions of the host builder. The
// arrays are equal to those of build.cpp. build_kernels.cuh has the CUDA kernels.
#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/select.hpp"
#include "device/sort.hpp"
#include "kernels/numeric.cuh"
#include "kernels/peers/tilespmv/build.hpp"
#include "kernels/peers/tilespmv/build_kernels.cuh"
#include "kernels/peers/tilespmv/device_layout.hpp"

namespace trireme::tilespmv {
namespace {

int bits_for(std::int64_t count) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0)));
}

template <class Stored, class Value>
class Builder {
 public:
  Builder(const DeviceCsr<Value>& a, StreamRef stream)
      : a_(a),
        stream_(stream),
        keys_{a.rows, a.cols, bits_for(tiles_along(a.cols))},
        sorted_keys_(a.nnz, stream),
        sorted_entries_(a.nnz, stream) {
    layout_.rows = a.rows;
    layout_.cols = a.cols;
    layout_.nnz = a.nnz;
  }

  DeviceLayout<Stored> build() {
    Stopwatch watch;
    sort_entries();
    synchronize(stream_);
    const double sort_seconds = watch.lap();
    find_tiles();
    plan_all_tiles();
    lay_tiles();
    synchronize(stream_);
    const double select_seconds = watch.lap();
    layout_.position = DeviceBuffer<std::uint32_t>(a_.nnz, stream_);
    layout_.values = DeviceBuffer<Stored>(layout_.tile_values + deferred_, stream_);
    write_tiles();
    defer_entries();
    make_tasks();
    synchronize(stream_);
    const double write_seconds = watch.lap();
    fill_zero(layout_.values.span(), stream_);
    store_device_values<Stored, Value>(a_.values, layout_, stream_);
    const Array<Format> formats = to_host(layout_.tile_format.view(), stream_);
    layout_.steps = {{describe(formats, deferred_), 0},
                     {"sort entries by tile", sort_seconds},
                     {"select formats", select_seconds},
                     {"write tiles", write_seconds},
                     {"values", watch.lap()}};
    return std::move(layout_);
  }

 private:
  void sort_entries() {
    if (a_.nnz == 0) return;
    ScratchBuffer<std::uint64_t> keys(a_.nnz, stream_);
    ScratchBuffer<std::int32_t> entries(a_.nnz, stream_);
    make_keys<<<blocks_for(a_.nnz), kBuildThreads, 0, stream_>>>(
        keys_, a_.nnz, a_.row_ptr.data(), a_.col_idx.data(), keys.data(), entries.data());
    check_launch();
    const int bits = kPlaceBits + keys_.column_bits + bits_for(tiles_along(a_.rows));
    sort_pairs(keys.view(), sorted_keys_.span(), entries.view(), sorted_entries_.span(), bits,
               stream_);
  }

  // Finds the first entry of each tile, very sparse ones among them.
  void find_tiles() {
    if (a_.nnz > 0) {
      ScratchBuffer<std::uint8_t> begins(a_.nnz, stream_);
      ScratchBuffer<std::int32_t> first(a_.nnz, stream_);
      flag_first_entries<<<blocks_for(a_.nnz), kBuildThreads, 0, stream_>>>(
          a_.nnz, sorted_keys_.data(), begins.data());
      check_launch();
      all_tiles_ = select_flagged(begins.view(), first.span(), stream_);
      first_entry_ = ScratchBuffer<std::int32_t>(all_tiles_ + 1, stream_);
      copy_on_device(DeviceSpan<const std::int32_t>(first.data(), all_tiles_), first_entry_.span(),
                     stream_);
    } else {
      first_entry_ = ScratchBuffer<std::int32_t>(1, stream_);
    }
    const auto end = static_cast<std::int32_t>(a_.nnz);
    copy_to_device(std::span<const std::int32_t>(&end, 1),
                   first_entry_.span().subspan(all_tiles_, 1), stream_);
    synchronize(stream_);  // The copy reads `end`.
  }

  SortedEntries sorted() const {
    return {keys_, sorted_keys_.data(), sorted_entries_.data(), first_entry_.data()};
  }

  // Selects the format of every tile, and decides whether very sparse tiles are deferred.
  void plan_all_tiles() {
    plans_ = ScratchBuffer<TilePlan>(all_tiles_, stream_);
    ScratchBuffer<unsigned long long> saved(1, stream_);
    fill_zero(saved.span(), stream_);
    if (all_tiles_ > 0) {
      plan_tiles<<<blocks_for(all_tiles_), kBuildThreads, 0, stream_>>>(
          sorted(), all_tiles_, static_cast<int>(sizeof(Stored)), plans_.data(), saved.data());
      check_launch();
    }
    defers_ = defers(a_.rows, static_cast<std::int64_t>(read_back(saved.data(), stream_)));
  }

  // Fills all arrays of level 1.
  void lay_tiles() {
    place_ = ScratchBuffer<std::int32_t>(all_tiles_ + 1, stream_);
    flag_kept_tiles<<<blocks_for(all_tiles_ + 1), kBuildThreads, 0, stream_>>>(
        all_tiles_, first_entry_.data(), defers_, place_.data());
    check_launch();
    exclusive_sum_in_place(place_.span(), stream_);
    layout_.tiles = read_back(place_.data() + all_tiles_, stream_);
    layout_.tile_ptr = DeviceBuffer<std::int32_t>(layout_.tile_rows() + 1, stream_);
    layout_.tile_col_idx = DeviceBuffer<std::int32_t>(layout_.tiles, stream_);
    layout_.tile_format = DeviceBuffer<Format>(layout_.tiles, stream_);
    layout_.tile_nnz = DeviceBuffer<std::uint32_t>(layout_.tiles + 1, stream_);
    layout_.tile_index = DeviceBuffer<std::uint32_t>(layout_.tiles + 1, stream_);
    find_tile_rows<<<blocks_for(layout_.tile_rows() + 1), kBuildThreads, 0, stream_>>>(
        sorted(), all_tiles_, layout_.tile_rows(), place_.data(), layout_.tile_ptr.data());
    lay_level_1<<<blocks_for(all_tiles_ + 1), kBuildThreads, 0, stream_>>>(
        sorted(), all_tiles_, plans_.data(), place_.data(), layout_.tile_col_idx.data(),
        layout_.tile_format.data(), layout_.tile_nnz.data(), layout_.tile_index.data());
    check_launch();
    exclusive_sum_in_place(layout_.tile_nnz.span(), stream_);
    exclusive_sum_in_place(layout_.tile_index.span(), stream_);
    layout_.tile_values = read_back(layout_.tile_nnz.data() + layout_.tiles, stream_);
    layout_.indices = DeviceBuffer<std::uint8_t>(
        read_back(layout_.tile_index.data() + layout_.tiles, stream_), stream_);
    find_deferred();
  }

  // Collects the deferred entries by row.
  void find_deferred() {
    if (!defers_) return;
    ScratchBuffer<std::uint8_t> flags(a_.nnz, stream_);
    ScratchBuffer<std::int32_t> selected(a_.nnz, stream_);
    fill_zero(flags.span(), stream_);
    flag_deferred_entries<<<blocks_for(all_tiles_), kBuildThreads, 0, stream_>>>(
        all_tiles_, first_entry_.data(), flags.data());
    check_launch();
    deferred_ = select_flagged(flags.view(), selected.span(), stream_);
    ScratchBuffer<std::uint32_t> rows(deferred_, stream_);
    deferred_rows_ = ScratchBuffer<std::uint32_t>(deferred_, stream_);
    deferred_at_ = ScratchBuffer<std::int32_t>(deferred_, stream_);
    rows_of_deferred<<<blocks_for(deferred_), kBuildThreads, 0, stream_>>>(
        sorted(), deferred_, selected.data(), rows.data());
    check_launch();
    sort_pairs(rows.view(), deferred_rows_.span(), selected.view().subspan(0, deferred_),
               deferred_at_.span(), std::max(1, bits_for(a_.rows)), stream_);
  }

  void write_tiles() {
    if (layout_.tiles == 0) return;
    write_kept_tiles<<<blocks_for(all_tiles_), kBuildThreads, 0, stream_>>>(
        sorted(), all_tiles_, plans_.data(), place_.data(), layout_.tile_nnz.data(),
        layout_.tile_index.data(), layout_.indices.data(), layout_.position.data());
    check_launch();
  }

  void defer_entries() {
    if (!defers_) return;
    layout_.deferred_ptr = DeviceBuffer<std::int32_t>(a_.rows + 1, stream_);
    layout_.deferred_col_idx = DeviceBuffer<std::int32_t>(deferred_, stream_);
    find_deferred_rows<<<blocks_for(a_.rows + 1), kBuildThreads, 0, stream_>>>(
        a_.rows, deferred_, deferred_rows_.data(), layout_.deferred_ptr.data());
    lay_deferred<<<blocks_for(deferred_), kBuildThreads, 0, stream_>>>(
        sorted(), deferred_, deferred_at_.data(), static_cast<std::uint32_t>(layout_.tile_values),
        layout_.deferred_col_idx.data(), layout_.position.data());
    check_launch();
  }

  void make_tasks() {
    const std::int64_t tile_rows = layout_.tile_rows();
    ScratchBuffer<std::int32_t> first_task(tile_rows + 1, stream_), split(tile_rows + 1, stream_);
    count_tasks<<<blocks_for(tile_rows + 1), kBuildThreads, 0, stream_>>>(
        a_.rows, layout_.tile_ptr.data(), layout_.tile_nnz.data(),
        defers_ ? layout_.deferred_ptr.data() : nullptr, first_task.data(), split.data());
    check_launch();
    exclusive_sum_in_place(first_task.span(), stream_);
    exclusive_sum_in_place(split.span(), stream_);
    layout_.split_rows = read_back(split.data() + tile_rows, stream_);
    layout_.tasks = DeviceBuffer<Task>(read_back(first_task.data() + tile_rows, stream_), stream_);
    if (tile_rows == 0) return;
    lay_tasks<<<blocks_for(32 * tile_rows), kBuildThreads, 0, stream_>>>(
        tile_rows, first_task.data(), split.data(), layout_.tasks.data());
    check_launch();
  }

  const DeviceCsr<Value>& a_;
  StreamRef stream_;
  Keys keys_;
  DeviceLayout<Stored> layout_;
  ScratchBuffer<std::uint64_t> sorted_keys_;
  ScratchBuffer<std::int32_t> sorted_entries_;
  std::int64_t all_tiles_ = 0;               // very sparse tiles included
  ScratchBuffer<std::int32_t> first_entry_;  // all tiles + 1, among the sorted entries
  ScratchBuffer<TilePlan> plans_;            // all tiles
  ScratchBuffer<std::int32_t> place_;        // all tiles + 1: the kept tiles before each tile
  bool defers_ = false;
  std::int64_t deferred_ = 0;                   // entries
  ScratchBuffer<std::uint32_t> deferred_rows_;  // deferred: ascending
  ScratchBuffer<std::int32_t> deferred_at_;     // deferred: among the sorted entries
};

}  // namespace

template <class Stored>
std::int64_t DeviceLayout<Stored>::stored_bytes() const {
  const auto bytes = [](const auto&... buffers) {
    return static_cast<std::int64_t>(((buffers.size() * sizeof(*buffers.data())) + ...));
  };
  return bytes(tile_ptr, tile_col_idx, tile_format, tile_nnz, tile_index, indices, values,
               deferred_ptr, deferred_col_idx, tasks);
}

template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream) {
  return Builder<Stored, Value>(matrix, stream).build();
}

template <class Stored, class Value>
void store_device_values(DeviceSpan<const Value> values, DeviceLayout<Stored>& layout,
                         StreamRef stream) {
  if (layout.nnz == 0) return;
  scatter_values<<<blocks_for(layout.nnz), kBuildThreads, 0, stream>>>(
      layout.nnz, values.data(), layout.position.data(), layout.values.data());
  check_launch();
}

#define TRIREME_INSTANTIATE(Stored, Value)                                           \
  template DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>&, StreamRef); \
  template void store_device_values(DeviceSpan<const Value>, DeviceLayout<Stored>&, StreamRef);
TRIREME_INSTANTIATE(double, double)
TRIREME_INSTANTIATE(float, float)
TRIREME_INSTANTIATE(float, double)
#undef TRIREME_INSTANTIATE
template struct DeviceLayout<double>;
template struct DeviceLayout<float>;

}  // namespace trireme::tilespmv
