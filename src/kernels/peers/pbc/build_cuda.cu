// SPDX-License-Identifier: BSD-3-Clause
// Builds the PBC layout in GPU memory. The partition is sequential within a panel and made on the
// host; the entries stay on the GPU.
#include <algorithm>

#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "kernels/peers/pbc/blocks.hpp"
#include "kernels/peers/pbc/device_layout.hpp"

namespace trireme::pbc {
namespace {

using Index = std::int32_t;
constexpr int kThreads = 256;
constexpr int kLanes = 8;  // per row

// `lanes` threads copy one row after another.
template <bool pattern, class Value>
__global__ void __launch_bounds__(kThreads)
    copy_rows(int lanes, std::int64_t count, const Index* __restrict__ rows,
              const Index* __restrict__ places, const Index* __restrict__ row_ptr,
              const Index* __restrict__ col_idx, const Value* __restrict__ values,
              Index* __restrict__ offset, Index* __restrict__ blockpos,
              Value* __restrict__ val_data) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t k = (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / lanes;
  if (k >= count) return;
  const Index row = rows[k], place = places[k], begin = row_ptr[row];
  const Index length = row_ptr[row + 1] - begin;
  for (std::int64_t entry = lane; entry < length; entry += lanes) {
    if constexpr (pattern) {
      offset[place + entry] = col_idx[begin + entry];
      blockpos[place + entry] = row;
    }
    val_data[place + entry] = values[begin + entry];
  }
}

// A thread block copies each long row, and kLanes threads copy each other row.
template <bool pattern, class Value>
void copy_all(DeviceSpan<const Index> row_ptr, const Index* col_idx, const Value* values,
              DeviceLayout<Value>& layout, StreamRef stream) {
  const auto launch = [&](int lanes, std::int64_t first, std::int64_t count) {
    if (count == 0) return;
    const std::int64_t rows_per_block = kThreads / lanes;
    copy_rows<pattern><<<static_cast<unsigned>((count + rows_per_block - 1) / rows_per_block),
                         kThreads, 0, stream>>>(lanes, count, layout.stored_rows.data() + first,
                                                layout.places.data() + first, row_ptr.data(),
                                                col_idx, values, layout.dev_offset.data(),
                                                layout.dev_blockpos.data(), layout.val_data.data());
    check_launch();
  };
  const auto rows = static_cast<std::int64_t>(layout.stored_rows.size());
  launch(kThreads, 0, layout.long_rows);
  launch(kLanes, layout.long_rows, rows - layout.long_rows);
}

}  // namespace

template <class Value>
void reorder_values(DeviceSpan<const Index> row_ptr, DeviceSpan<const Value> csr_values,
                    DeviceLayout<Value>& layout, StreamRef stream) {
  copy_all<false>(row_ptr, static_cast<const Index*>(nullptr), csr_values.data(), layout, stream);
}

template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream) {
  Stopwatch watch;
  DeviceLayout<Value> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz;
  const Array<Index> row_ptr = to_host(matrix.row_ptr, stream);
  const Blocks blocks = make_blocks(row_ptr, make_plan(matrix.rows, matrix.nnz));
  layout.long_rows = blocks.long_rows;
  layout.long_row_numbers.assign(blocks.rows.begin(), blocks.rows.begin() + blocks.long_rows);
  layout.long_row_places.assign(blocks.dev_p.begin(), blocks.dev_p.begin() + blocks.long_rows + 1);
  layout.steps.push_back({"partition rows", watch.lap()});

  const auto upload = [&](const Array<Index>& array) {
    return to_device(std::span<const Index>(array), stream);
  };
  layout.dev_w = upload(blocks.dev_w);
  layout.dev_p = upload(blocks.dev_p);
  layout.empty_rows = upload(blocks.empty_rows);
  layout.stored_rows = upload(blocks.rows);
  layout.places = upload(blocks.places);
  layout.val_data = DeviceBuffer<Value>(matrix.nnz, stream);
  layout.dev_offset = DeviceBuffer<Index>(matrix.nnz, stream);
  layout.dev_blockpos = DeviceBuffer<Index>(matrix.nnz, stream);
  copy_all<true>(matrix.row_ptr, matrix.col_idx.data(), matrix.values.data(), layout, stream);
  synchronize(stream);
  layout.steps.push_back({"copy entries", watch.lap()});
  return layout;
}

#define TRIREME_INSTANTIATE(Value)                                                  \
  template DeviceLayout<Value> build_on_device(const DeviceCsr<Value>&, StreamRef); \
  template void reorder_values(DeviceSpan<const Index>, DeviceSpan<const Value>,    \
                               DeviceLayout<Value>&, StreamRef);
TRIREME_INSTANTIATE(double)
TRIREME_INSTANTIATE(float)
#undef TRIREME_INSTANTIATE

}  // namespace trireme::pbc
