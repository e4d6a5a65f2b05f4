// SPDX-License-Identifier: BSD-3-Clause
// Builds the AMF-CSR layout in GPU memory. Rows are grouped on the host from row_ptr; one warp
// folds the rows of a row block, each of which one lane walks.
#include <algorithm>

#include "base/stopwatch.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "kernels/peers/amf_csr/device_layout.hpp"
#include "kernels/peers/amf_csr/groups.hpp"
#include "kernels/peers/amf_csr/layout.hpp"

namespace trireme::amf_csr {
namespace {

using Index = std::int32_t;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kMaxRows = 1 << kMaxRowBits;

unsigned blocks_for(std::int64_t items, std::int64_t items_per_block) {
  return static_cast<unsigned>((items + items_per_block - 1) / items_per_block);
}

// The place of a nonzero of a row block of one row is that of the CSR.
template <bool pattern, class Value>
__global__ void __launch_bounds__(kThreads)
    copy_entries(std::int64_t nnz, int row_bits, const Index* __restrict__ col_idx,
                 const Value* __restrict__ values, std::uint32_t* __restrict__ col_index,
                 Value* __restrict__ val) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (k >= nnz) return;
  if constexpr (pattern) col_index[k] = static_cast<std::uint32_t>(col_idx[k]) << row_bits;
  val[k] = values[k];
}

// One warp per row block of several rows. Lane r holds the next nonzero of row r.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    fold_rows(std::int64_t row_blocks, int row_bits, const Index* __restrict__ first_row,
              const Index* __restrict__ csr_row_ptr, const Index* __restrict__ col_idx,
              const Value* __restrict__ values, std::uint32_t* __restrict__ col_index,
              Value* __restrict__ val) {
  const std::int64_t row_block =
      (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32;
  if (row_block >= row_blocks) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index first = first_row[row_block], end_row = first_row[row_block + 1];
  if (end_row - first == 1) return;
  constexpr unsigned kNone = 0xffffffffu;  // greater than every column
  Index next = 0, end = 0;
  if (first + lane < end_row) {
    next = csr_row_ptr[first + lane];
    end = csr_row_ptr[first + lane + 1];
  }
  unsigned column = next < end ? static_cast<unsigned>(col_idx[next]) : kNone;
  Index place = csr_row_ptr[first];
  while (true) {
    const unsigned least = __reduce_min_sync(kFullWarp, column);
    if (least == kNone) break;
    const int winner = __ffs(static_cast<int>(__ballot_sync(kFullWarp, column == least))) - 1;
    if (lane == winner) {
      col_index[place] = least << row_bits | static_cast<unsigned>(lane);
      val[place] = values[next];
      ++next;
      column = next < end ? static_cast<unsigned>(col_idx[next]) : kNone;
    }
    ++place;
  }
}

// One warp per row block of several rows. The nonzeros of a row keep their order, so that each lane
// counts those of its row in the lanes before it.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    fold_values(std::int64_t row_blocks, int row_bits, const Index* __restrict__ first_row,
                const Index* __restrict__ csr_row_ptr, const std::uint32_t* __restrict__ col_index,
                const Value* __restrict__ values, Value* __restrict__ val) {
  __shared__ Index next_of_warps[kWarps][kMaxRows];
  const std::int64_t row_block =
      (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32;
  if (row_block >= row_blocks) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index first = first_row[row_block], end_row = first_row[row_block + 1];
  if (end_row - first == 1) return;
  Index* next = next_of_warps[threadIdx.x / 32];
  if (first + lane < end_row) next[lane] = csr_row_ptr[first + lane];
  __syncwarp();
  const std::int64_t end = csr_row_ptr[end_row];
  for (std::int64_t base = csr_row_ptr[first]; base < end; base += 32) {
    const std::int64_t place = base + lane;
    const unsigned row = place < end ? col_index[place] & ((1u << row_bits) - 1) : kMaxRows;
    const unsigned alike = __match_any_sync(kFullWarp, row);
    const int before = __popc(alike & ((1u << lane) - 1));
    if (place < end) val[place] = values[next[row] + before];
    __syncwarp();
    if (place < end && before == 0) next[row] += __popc(alike);
    __syncwarp();
  }
}

}  // namespace

template <class Value>
void reorder_values(DeviceSpan<const Index> row_ptr, DeviceSpan<const Value> csr_values,
                    DeviceLayout<Value>& layout, StreamRef stream) {
  if (layout.nnz == 0) return;
  copy_entries<false><<<blocks_for(layout.nnz, kThreads), kThreads, 0, stream>>>(
      layout.nnz, layout.row_bits, static_cast<const Index*>(nullptr), csr_values.data(),
      layout.col_index.data(), layout.val.data());
  check_launch();
  fold_values<<<blocks_for(layout.row_blocks, kWarps), kThreads, 0, stream>>>(
      layout.row_blocks, layout.row_bits, layout.first_row.data(), row_ptr.data(),
      layout.col_index.data(), csr_values.data(), layout.val.data());
  check_launch();
}

template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream) {
  Stopwatch watch;
  DeviceLayout<Value> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz;
  const Array<Index> csr_row_ptr = to_host(matrix.row_ptr, stream);
  const Groups groups =
      make_groups(csr_row_ptr, matrix.cols, choose_thresholds(matrix.rows, matrix.nnz));
  layout.row_blocks = groups.row_blocks;
  layout.sub_blocks = groups.sub_blocks;
  layout.row_bits = groups.row_bits;
  for (std::int64_t block = 0; block < groups.row_blocks; ++block)
    if (groups.row_ptr[block + 1] - groups.row_ptr[block] > kMaxRowBlockNonzeros)
      layout.long_rows.push_back(
          {groups.first_row[block], groups.row_ptr[block], groups.row_ptr[block + 1]});
  layout.steps.push_back({"group rows", watch.lap()});

  layout.row_ptr = to_device(std::span<const Index>(groups.row_ptr), stream);
  layout.first_row = to_device(std::span<const Index>(groups.first_row), stream);
  layout.val = DeviceBuffer<Value>(matrix.nnz, stream);
  layout.col_index = DeviceBuffer<std::uint32_t>(matrix.nnz, stream);
  if (layout.nnz > 0) {
    copy_entries<true><<<blocks_for(layout.nnz, kThreads), kThreads, 0, stream>>>(
        layout.nnz, layout.row_bits, matrix.col_idx.data(), matrix.values.data(),
        layout.col_index.data(), layout.val.data());
    check_launch();
    fold_rows<<<blocks_for(layout.row_blocks, kWarps), kThreads, 0, stream>>>(
        layout.row_blocks, layout.row_bits, layout.first_row.data(), matrix.row_ptr.data(),
        matrix.col_idx.data(), matrix.values.data(), layout.col_index.data(), layout.val.data());
    check_launch();
  }
  synchronize(stream);
  layout.steps.push_back({"fold rows", watch.lap()});
  return layout;
}

#define TRIREME_INSTANTIATE(Value)                                                  \
  template DeviceLayout<Value> build_on_device(const DeviceCsr<Value>&, StreamRef); \
  template void reorder_values(DeviceSpan<const Index>, DeviceSpan<const Value>,    \
                               DeviceLayout<Value>&, StreamRef);
TRIREME_INSTANTIATE(double)
TRIREME_INSTANTIATE(float)
#undef TRIREME_INSTANTIATE

}  // namespace trireme::amf_csr
