// SPDX-License-Identifier: BSD-3-Clause
// Finds the row order of TEB on the GPU; the result is equal to that of the host. A radix sort by
// (panel, length) comes first. Then one warp per panel merges its rows by searching prefix sums in
// shared memory. Scans give the offsets.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/sort.hpp"
#include "kernels/teb/device_layout.hpp"
#include "kernels/teb/layout.hpp"

namespace trireme::teb {
namespace {

using Index = std::int32_t;

int blocks_for(std::int64_t threads) {
  return static_cast<int>((threads + kThreads - 1) / kThreads);
}

__device__ __forceinline__ std::int64_t thread_number() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}

// Sets counts[l] to the number of rows of length l <= kMaxNonzeros, and stores the lengths of the
// other rows in `longer`, in any order.
__global__ void count_lengths(std::int64_t rows, const Index* __restrict__ row_ptr,
                              unsigned* __restrict__ counts, unsigned* __restrict__ longer_count,
                              Index* __restrict__ longer) {
  __shared__ unsigned mine[kMaxNonzeros + 1];
  for (int l = threadIdx.x; l <= kMaxNonzeros; l += blockDim.x) mine[l] = 0;
  __syncthreads();
  for (std::int64_t row = thread_number(); row < rows;
       row += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const Index length = row_ptr[row + 1] - row_ptr[row];
    if (length <= kMaxNonzeros)
      atomicAdd(&mine[length], 1u);
    else
      longer[atomicAdd(longer_count, 1u)] = length;
  }
  __syncthreads();
  for (int l = threadIdx.x; l <= kMaxNonzeros; l += blockDim.x)
    if (mine[l] > 0) atomicAdd(&counts[l], mine[l]);
}

RowRuns count_rows(std::int64_t rows, std::int64_t nnz, DeviceSpan<const Index> row_ptr,
                   StreamRef stream) {
  constexpr int kMaxBlocks = 1024;
  // The last element counts the rows that are longer than kMaxNonzeros.
  ScratchBuffer<unsigned> counts(kMaxNonzeros + 2, stream);
  ScratchBuffer<Index> longer(nnz / kMaxNonzeros + 1, stream);
  fill_zero(counts.span(), stream);
  if (rows > 0)
    count_lengths<<<std::min(blocks_for(rows), kMaxBlocks), kThreads, 0, stream>>>(
        rows, row_ptr.data(), counts.data(), counts.data() + kMaxNonzeros + 1, longer.data());
  check_launch();
  const Array<unsigned> on_host = to_host(DeviceSpan<const unsigned>(counts.view()), stream);
  const Array<Index> lengths = to_host(longer.view().subspan(0, on_host.back()), stream);
  return runs_of(std::vector<std::int64_t>(on_host.begin(), on_host.end() - 1),
                 {lengths.begin(), lengths.end()});
}

// Ascending keys give the order of TEB before the merge: first the long rows, then the rows of each
// panel, longest first, then the empty rows. The sort is stable, so that ties stay in row order.
struct SortKeys {
  Index threshold;
  int panel_shift;  // a panel has 2^panel_shift rows
  int length_bits;
  std::uint32_t panels;

  __host__ __device__ std::uint32_t first_of_panel(std::uint32_t panel) const {
    return (panel + 1) << length_bits;
  }
  __device__ std::uint32_t key(std::int64_t row, Index length) const {
    if (length > threshold) return 0;
    if (length == 0) return first_of_panel(panels);
    return first_of_panel(static_cast<std::uint32_t>(row >> panel_shift)) +
           static_cast<std::uint32_t>(threshold - length);
  }
  int bits() const { return static_cast<int>(std::bit_width(first_of_panel(panels))); }
};

SortKeys keys_for(const Plan& plan, std::int64_t rows) {
  const auto threshold = static_cast<std::uint32_t>(plan.threshold.nonzeros);
  return {plan.threshold.nonzeros, std::countr_zero(static_cast<std::uint64_t>(plan.panel_rows)),
          static_cast<int>(std::bit_width(threshold)),
          static_cast<std::uint32_t>(plan.panels(rows))};
}

__global__ void make_keys(std::int64_t rows, const Index* __restrict__ row_ptr, SortKeys keys,
                          std::uint32_t* __restrict__ key, Index* __restrict__ order) {
  const std::int64_t row = thread_number();
  if (row >= rows) return;
  key[row] = keys.key(row, row_ptr[row + 1] - row_ptr[row]);
  order[row] = static_cast<Index>(row);
}

// Makes keys that sort the long rows longest first: the complements of their lengths.
__global__ void make_long_keys(std::int64_t rows, const Index* __restrict__ row_ptr,
                               const Index* __restrict__ order, std::uint32_t* __restrict__ key) {
  const std::int64_t position = thread_number();
  if (position >= rows) return;
  const Index row = order[position];
  key[position] = ~static_cast<std::uint32_t>(row_ptr[row + 1] - row_ptr[row]);
}

struct Sorted {
  ScratchBuffer<std::uint32_t> keys;
  ScratchBuffer<Index> rows;
};

Sorted sort_rows(std::int64_t rows, DeviceSpan<const Index> row_ptr, const SortKeys& keys,
                 std::int64_t long_rows, StreamRef stream) {
  ScratchBuffer<std::uint32_t> key(rows, stream);
  ScratchBuffer<Index> order(rows, stream);
  Sorted sorted{ScratchBuffer<std::uint32_t>(rows, stream), ScratchBuffer<Index>(rows, stream)};
  make_keys<<<blocks_for(rows), kThreads, 0, stream>>>(rows, row_ptr.data(), keys, key.data(),
                                                       order.data());
  check_launch();
  sort_pairs(key.view(), sorted.keys.span(), order.view(), sorted.rows.span(), keys.bits(), stream);
  if (long_rows > 1) {
    copy_on_device(sorted.rows.view().subspan(0, long_rows), order.span(), stream);
    make_long_keys<<<blocks_for(long_rows), kThreads, 0, stream>>>(long_rows, row_ptr.data(),
                                                                   order.data(), key.data());
    check_launch();
    Sorted longest{ScratchBuffer<std::uint32_t>(long_rows, stream),
                   ScratchBuffer<Index>(long_rows, stream)};
    sort_pairs(key.view().subspan(0, long_rows), longest.keys.span(),
               order.view().subspan(0, long_rows), longest.rows.span(), 32, stream);
    copy_on_device(longest.rows.view(), sorted.rows.span(), stream);
  }
  return sorted;
}

__global__ void gather_lengths(std::int64_t rows, const Index* __restrict__ row_ptr,
                               const Index* __restrict__ order, Index* __restrict__ lengths) {
  const std::int64_t position = thread_number();
  if (position > rows) return;
  const Index row = position < rows ? order[position] : 0;
  lengths[position] = position < rows ? row_ptr[row + 1] - row_ptr[row] : 0;
}

// Sets sums[k] to the number of nonzeros before position k of `order`; `sums` has rows + 1
// elements.
void sum_lengths(DeviceSpan<const Index> row_ptr, DeviceSpan<const Index> order,
                 DeviceSpan<Index> sums, StreamRef stream) {
  const auto rows = static_cast<std::int64_t>(order.size());
  gather_lengths<<<blocks_for(rows + 1), kThreads, 0, stream>>>(rows, row_ptr.data(), order.data(),
                                                                sums.data());
  check_launch();
  exclusive_sum_in_place(sums, stream);
}

// Sets starts[p] to the first sorted position of panel p, and starts[panels] to that of the empty
// rows.
__global__ void find_panels(std::int64_t rows, const std::uint32_t* __restrict__ sorted_keys,
                            SortKeys keys, Index* __restrict__ starts) {
  const std::int64_t panel = thread_number();
  if (panel > keys.panels) return;
  const std::uint32_t wanted = keys.first_of_panel(static_cast<std::uint32_t>(panel));
  std::int64_t low = 0, high = rows;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (sorted_keys[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  starts[panel] = static_cast<Index>(low);
}

// Returns the first k in [low, high] with sum[k] >= wanted; sum[high] >= wanted must hold. A whole
// warp calls it.
__device__ int lower_bound_by_warp(const Index* sum, int low, int high, Index wanted) {
  const int lane = threadIdx.x % 32;
  while (low < high) {
    const int step = (high - low) / 32 + 1;
    const int probe = min(low + (lane + 1) * step - 1, high);
    const unsigned reached = __ballot_sync(0xffffffffu, sum[probe] >= wanted);
    const int first = __ffs(reached) - 1;  // sum[high] >= wanted, so that lane 31 always votes yes
    const int next_high = min(low + (first + 1) * step - 1, high);
    low = first == 0 ? low : min(low + first * step, high);
    high = next_high;
  }
  return low;
}

// Algorithm 2 as in merge_rows() of build.hpp, one panel per thread block. Sets
// block_starts[starts[p] + i] to the position of the first row of block i of panel p, and counts[p]
// to its number of blocks.
__global__ void merge_panels(const Index* __restrict__ starts, const Index* __restrict__ sorted_sum,
                             Index threshold, Index* __restrict__ block_starts,
                             Index* __restrict__ counts) {
  extern __shared__ Index sum[];
  const Index start = starts[blockIdx.x];
  const int rows = starts[blockIdx.x + 1] - start;
  const Index before = sorted_sum[start];
  for (int k = threadIdx.x; k <= rows; k += blockDim.x) sum[k] = sorted_sum[start + k] - before;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  int first = 0, end = rows;
  while (first < end) {
    if (threadIdx.x == 0) block_starts[start + first] = start + first + (rows - end);
    const Index room = threshold - (sum[first + 1] - sum[first]);
    end = lower_bound_by_warp(sum, first + 1, end, sum[end] - room);
    ++first;
  }
  if (threadIdx.x == 0) counts[blockIdx.x] = first;
}

// Writes the part of row_order and blo_idx that belongs to a panel, one warp per block.
__global__ void place_panels(const Index* __restrict__ starts, const Index* __restrict__ offsets,
                             const Index* __restrict__ block_starts,
                             const Index* __restrict__ sorted, Index long_rows,
                             Index* __restrict__ row_order, Index* __restrict__ blo_idx) {
  const Index start = starts[blockIdx.x], panel_end = starts[blockIdx.x + 1];
  const Index offset = offsets[blockIdx.x];
  const int blocks = offsets[blockIdx.x + 1] - offset;
  const int lane = threadIdx.x % 32;
  for (int block = threadIdx.x / 32; block < blocks; block += kThreads / 32) {
    const Index position = block_starts[start + block];
    const Index next = block + 1 < blocks ? block_starts[start + block + 1] : panel_end;
    const Index taken_from_back = position - start - block;
    const Index last = panel_end - 1 - taken_from_back;
    for (Index k = position + lane; k < next; k += 32)
      row_order[k] = k == position ? sorted[start + block] : sorted[last - (k - position - 1)];
    if (lane == 0) blo_idx[long_rows + offset + block] = position;
  }
}

// Places the long rows and the empty rows, which keep their sorted order.
__global__ void place_others(std::int64_t rows, std::int64_t long_rows, std::int64_t empty_rows,
                             std::int64_t blocks, const Index* __restrict__ sorted,
                             Index* __restrict__ row_order, Index* __restrict__ blo_idx) {
  const std::int64_t k = thread_number();
  if (k == 0) blo_idx[blocks] = static_cast<Index>(rows);
  if (k < long_rows) {
    row_order[k] = sorted[k];
    blo_idx[k] = static_cast<Index>(k);
  }
  if (k < empty_rows) {
    const std::int64_t position = rows - empty_rows + k;
    row_order[position] = sorted[position];
    const std::int64_t empty_blocks = (empty_rows + kEmptyRowsPerBlock - 1) / kEmptyRowsPerBlock;
    if (k % kEmptyRowsPerBlock == 0)
      blo_idx[blocks - empty_blocks + k / kEmptyRowsPerBlock] = static_cast<Index>(position);
  }
}

void merge_and_place(DeviceSpan<const Index> row_ptr, const Sorted& sorted, const SortKeys& keys,
                     DeviceOrder& order, StreamRef stream) {
  const auto rows = static_cast<std::int64_t>(order.row_order.size());
  const Plan& plan = order.plan;
  const auto panels = static_cast<int>(keys.panels);

  ScratchBuffer<Index> sorted_sum(rows + 1, stream), starts(panels + 1, stream);
  sum_lengths(row_ptr, sorted.rows.view(), sorted_sum.span(), stream);
  find_panels<<<blocks_for(panels + 1), kThreads, 0, stream>>>(rows, sorted.keys.data(), keys,
                                                               starts.data());
  check_launch();

  ScratchBuffer<Index> block_starts(rows, stream), offsets(panels + 1, stream);
  fill_zero(offsets.span(), stream);
  const auto shared_bytes = static_cast<int>((std::min(plan.panel_rows, rows) + 1) * sizeof(Index));
  cuda_check(cudaFuncSetAttribute(merge_panels, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  shared_bytes));
  merge_panels<<<panels, kThreads, shared_bytes, stream>>>(starts.data(), sorted_sum.data(),
                                                           plan.threshold.nonzeros,
                                                           block_starts.data(), offsets.data());
  check_launch();
  exclusive_sum_in_place(offsets.span(), stream);
  const std::int64_t empty_blocks = (plan.empty_rows + kEmptyRowsPerBlock - 1) / kEmptyRowsPerBlock;
  order.blocks = plan.long_rows + read_back(offsets.data() + panels, stream) + empty_blocks;

  order.blo_idx = DeviceBuffer<Index>(order.blocks + 1, stream);
  place_panels<<<panels, kThreads, 0, stream>>>(
      starts.data(), offsets.data(), block_starts.data(), sorted.rows.data(),
      static_cast<Index>(plan.long_rows), order.row_order.data(), order.blo_idx.data());
  check_launch();
  const std::int64_t others = std::max<std::int64_t>({plan.long_rows, plan.empty_rows, 1});
  place_others<<<blocks_for(others), kThreads, 0, stream>>>(
      rows, plan.long_rows, plan.empty_rows, order.blocks, sorted.rows.data(),
      order.row_order.data(), order.blo_idx.data());
  check_launch();
}

}  // namespace

DeviceOrder order_rows(std::int64_t rows, std::int64_t nnz, DeviceSpan<const Index> row_ptr,
                       StreamRef stream) {
  DeviceOrder order{make_plan(rows, count_rows(rows, nnz, row_ptr, stream)),
                    0,
                    DeviceBuffer<Index>(rows, stream),
                    {},
                    DeviceBuffer<Index>(rows + 1, stream)};
  if (rows == 0) {
    order.blo_idx = DeviceBuffer<Index>(1, stream);
    fill_zero(order.blo_idx.span(), stream);
    fill_zero(order.rownnz_sum.span(), stream);
    return order;
  }
  const SortKeys keys = keys_for(order.plan, rows);
  const Sorted sorted = sort_rows(rows, row_ptr, keys, order.plan.long_rows, stream);
  merge_and_place(row_ptr, sorted, keys, order, stream);
  sum_lengths(row_ptr, order.row_order.view(), order.rownnz_sum.span(), stream);
  return order;
}

}  // namespace trireme::teb
