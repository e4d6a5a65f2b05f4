// SPDX-License-Identifier: BSD-3-Clause
// Builds the TEB layout on the GPU: makes the block heads and the chunks of long rows, and copies
// the rows to their places. order_rows.cu finds the order of the rows.
#include <algorithm>
#include <utility>

#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "kernels/numeric.cuh"
#include "kernels/teb/device_layout.hpp"
#include "kernels/teb/layout.hpp"

namespace trireme::teb {
namespace {

using Index = std::int32_t;

__device__ __forceinline__ int power_of_two_at_most(int number) {
  return 1 << (31 - __clz(max(number, 1)));
}

__global__ void make_heads(std::int64_t blocks, const Index* __restrict__ blo_idx,
                           const Index* __restrict__ rownnz_sum, BlockHead* __restrict__ heads) {
  const std::int64_t block = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (block > blocks) return;
  const Index first_row = blo_idx[block];
  BlockHead head{first_row, rownnz_sum[first_row], 0, 1};
  if (block < blocks) {
    head.front_length = rownnz_sum[first_row + 1] - head.first_nonzero;
    const int rows = blo_idx[block + 1] - first_row - (head.front_length > kLongFront);
    head.lanes =
        min(power_of_two_at_most(threads_beside_front(head.front_length) / max(rows, 1)), 32);
  }
  heads[block] = head;
}

// Copies the entries of a row from the CSR to the layout.
struct Copy {
  const Index* row_ptr;
  const Index* row_order;  // null: position and row are the same
  const Index* rownnz_sum;

  // Copies the entries begin + lane, begin + lane + stride, .. before `end` of the row at
  // `position`.
  template <bool columns, class Stored, class Value>
  __device__ __forceinline__ void row(Index position, Index begin, Index end, int lane, int stride,
                                      const Index* csr_columns, const Value* csr_values,
                                      Index* columns_out, Stored* values_out) const {
    const Index row = row_order ? row_order[position] : position;
    const Index shift = row_ptr[row] - rownnz_sum[position];
    for (Index k = begin + lane; k < end; k += stride) {
      if constexpr (columns) columns_out[k] = csr_columns[shift + k];
      values_out[k] = static_cast<Stored>(csr_values[shift + k]);
    }
  }
};

// The first thread blocks copy one chunk of a long row each, the others one block each. Reads and
// writes are contiguous within a row.
template <bool columns, class Stored, class Value>
__global__ void __launch_bounds__(kThreads)
    copy_entries(Copy copy, int chunk_count, const Chunk* __restrict__ chunks,
                 const BlockHead* __restrict__ heads, const Index* __restrict__ csr_columns,
                 const Value* __restrict__ csr_values, Index* __restrict__ columns_out,
                 Stored* __restrict__ values_out) {
  const auto copy_row = [&](Index position, Index begin, Index end, int lane, int stride) {
    copy.row<columns>(position, begin, end, lane, stride, csr_columns, csr_values, columns_out,
                      values_out);
  };
  if (static_cast<int>(blockIdx.x) < chunk_count) {
    const Chunk chunk = chunks[blockIdx.x];
    copy_row(chunk.position, chunk.begin, chunk.end, threadIdx.x, kThreads);
    return;
  }
  const BlockHead head = heads[blockIdx.x - chunk_count],
                  next = heads[blockIdx.x - chunk_count + 1];
  const bool front_apart = head.front_length > kLongFront;
  if (front_apart)
    copy_row(head.first_row, head.first_nonzero, head.first_nonzero + head.front_length,
             threadIdx.x, kThreads);
  const Index first = head.first_row + front_apart;
  const int rows = next.first_row - first;
  if (rows <= 0) return;
  const int rest = next.first_nonzero - head.first_nonzero - front_apart * head.front_length;
  const int lanes = min(2 * power_of_two_at_most(rest / rows), 32);
  for (Index r = first + threadIdx.x / lanes; r < next.first_row; r += kThreads / lanes)
    copy_row(r, copy.rownnz_sum[r], copy.rownnz_sum[r + 1], threadIdx.x % lanes, lanes);
}

std::vector<Chunk> make_chunks(std::int64_t long_rows, DeviceSpan<const Index> rownnz_sum,
                               StreamRef stream) {
  std::vector<Chunk> chunks;
  if (long_rows == 0) return chunks;
  const Array<Index> sums = to_host(rownnz_sum.subspan(0, long_rows + 1), stream);
  for (Index position = 0; position < long_rows; ++position) {
    const std::int64_t length = sums[position + 1] - sums[position];
    const auto count = static_cast<Index>((length + kChunkNonzeros - 1) / kChunkNonzeros);
    const auto first = static_cast<Index>(chunks.size());
    for (Index chunk = 0; chunk < count; ++chunk) {
      const std::int64_t begin = sums[position] + static_cast<std::int64_t>(chunk) * kChunkNonzeros;
      const std::int64_t end = std::min<std::int64_t>(begin + kChunkNonzeros, sums[position + 1]);
      chunks.push_back(
          {position, static_cast<Index>(begin), static_cast<Index>(end), first, count});
    }
  }
  return chunks;
}

template <bool columns, class Stored, class Value>
void copy_all(DeviceSpan<const Index> row_ptr, const Index* csr_columns, const Value* csr_values,
              DeviceLayout<Stored>& layout, StreamRef stream) {
  const auto chunks = static_cast<int>(layout.chunks.size());
  const std::int64_t grid = chunks + layout.order.blocks - layout.order.plan.long_rows;
  if (grid == 0 || layout.nnz == 0) return;
  const Copy copy{row_ptr.data(), layout.order.row_order.data(), layout.order.rownnz_sum.data()};
  copy_entries<columns><<<static_cast<unsigned>(grid), kThreads, 0, stream>>>(
      copy, chunks, layout.chunks.data(), layout.heads.data() + layout.order.plan.long_rows,
      csr_columns, csr_values, layout.col_idx.data(), layout.values.data());
  check_launch();
}

}  // namespace

template <class Stored, class Value>
void reorder_values(DeviceSpan<const Index> row_ptr, DeviceSpan<const Value> csr_values,
                    DeviceLayout<Stored>& layout, StreamRef stream) {
  copy_all<false>(row_ptr, static_cast<const Index*>(nullptr), csr_values.data(), layout, stream);
}

DeviceOrder without_row_order(const DeviceOrder& order, StreamRef stream) {
  DeviceOrder copy{order.plan,
                   order.blocks,
                   {},
                   DeviceBuffer<Index>(order.blo_idx.size(), stream),
                   DeviceBuffer<Index>(order.rownnz_sum.size(), stream)};
  copy_on_device(order.blo_idx.view(), copy.blo_idx.span(), stream);
  copy_on_device(order.rownnz_sum.view(), copy.rownnz_sum.span(), stream);
  return copy;
}

template <class Stored, class Value>
DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream) {
  const Stopwatch watch;
  DeviceOrder order = order_rows(matrix.rows, matrix.nnz, matrix.row_ptr, stream);
  synchronize(stream);
  const double seconds = watch.seconds();
  DeviceLayout<Stored> layout = build_in_order<Stored>(matrix, std::move(order), stream);
  layout.steps.insert(layout.steps.begin(), {"order and merge rows", seconds});
  return layout;
}

template <class Stored, class Value>
DeviceLayout<Stored> build_in_order(const DeviceCsr<Value>& matrix, DeviceOrder order,
                                    StreamRef stream) {
  Stopwatch watch;
  DeviceLayout<Stored> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz;
  layout.order = std::move(order);
  layout.chunks =
      to_device(std::span<const Chunk>(make_chunks(layout.order.plan.long_rows,
                                                   layout.order.rownnz_sum.view(), stream)),
                stream);
  const std::int64_t blocks = layout.order.blocks;
  layout.heads = DeviceBuffer<BlockHead>(blocks + 1, stream);
  make_heads<<<static_cast<unsigned>(blocks / kThreads + 1), kThreads, 0, stream>>>(
      blocks, layout.order.blo_idx.data(), layout.order.rownnz_sum.data(), layout.heads.data());
  check_launch();
  synchronize(stream);
  layout.steps.push_back({"describe blocks", watch.lap()});

  layout.values = DeviceBuffer<Stored>(matrix.nnz, stream);
  layout.col_idx = DeviceBuffer<Index>(matrix.nnz, stream);
  copy_all<true>(matrix.row_ptr, matrix.col_idx.data(), matrix.values.data(), layout, stream);
  synchronize(stream);
  layout.steps.push_back({"copy entries", watch.lap()});
  return layout;
}

#define TRIREME_INSTANTIATE(Stored, Value)                                                       \
  template DeviceLayout<Stored> build_on_device(const DeviceCsr<Value>&, StreamRef);             \
  template DeviceLayout<Stored> build_in_order(const DeviceCsr<Value>&, DeviceOrder, StreamRef); \
  template void reorder_values(DeviceSpan<const Index>, DeviceSpan<const Value>,                 \
                               DeviceLayout<Stored>&, StreamRef);
TRIREME_INSTANTIATE(double, double)
TRIREME_INSTANTIATE(float, float)
TRIREME_INSTANTIATE(float, double)
#undef TRIREME_INSTANTIATE

}  // namespace trireme::teb
