// SPDX-License-Identifier: BSD-3-Clause
// One thread copies one entry at a time, and one block copies a run of consecutive entries of P A
// P^T, so that long rows cost no more than short rows. Bisection finds the first and the last row
// of the block, and then the row of each entry between them. Bytes moved per entry: 32 for the
// matrix, 16 for the values alone; row pointers come in addition. The matrix with ascending columns
// is sorted by radix sort instead, which is stable, so that its bits are always the same.
#include "kernels/permutation.hpp"

#include <algorithm>
#include <bit>

#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/sort.hpp"

namespace trireme {
namespace {

using Index = std::int32_t;

constexpr int kThreads = 256;
constexpr int kEach = 8;  // entries per thread
constexpr int kEntries = kThreads * kEach;

unsigned blocks_for(std::int64_t items, int items_per_block) {
  return static_cast<unsigned>((items + items_per_block - 1) / items_per_block);
}

__device__ __forceinline__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

__global__ void invert(std::int64_t rows, const Index* __restrict__ order,
                       Index* __restrict__ inverse) {
  const std::int64_t i = thread_number();
  if (i < rows) inverse[order[i]] = static_cast<Index>(i);
}

__global__ void gather_lengths(std::int64_t rows, const Index* __restrict__ row_ptr,
                               const Index* __restrict__ order, Index* __restrict__ lengths) {
  const std::int64_t i = thread_number();
  if (i > rows) return;
  const Index row = i < rows ? order[i] : 0;
  lengths[i] = i < rows ? row_ptr[row + 1] - row_ptr[row] : 0;
}

// Returns the last row in [low, high) that begins at or before `entry`; row `low` must do so.
__device__ __forceinline__ Index row_of(const Index* row_ptr, Index low, Index high, Index entry) {
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (row_ptr[middle] <= entry)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <bool with_columns>
__global__ void __launch_bounds__(kThreads)
    copy_entries(Index rows, Index nnz, const Index* __restrict__ row_ptr,
                 const Index* __restrict__ columns, const double* __restrict__ values,
                 const Index* __restrict__ order, const Index* __restrict__ inverse,
                 const Index* __restrict__ new_row_ptr, Index* __restrict__ new_columns,
                 double* __restrict__ new_values) {
  __shared__ Index ends[2];
  const auto first = static_cast<Index>(blockIdx.x * std::int64_t{kEntries});
  const Index count = min(nnz - first, kEntries);
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
    ends[threadIdx.x / 32] =
        row_of(new_row_ptr, 0, rows, threadIdx.x == 0 ? first : first + count - 1);
  __syncthreads();
  for (Index k = threadIdx.x; k < count; k += kThreads) {
    const Index to = first + k;
    const Index row = row_of(new_row_ptr, ends[0], ends[1] + 1, to);
    const Index from = row_ptr[order[row]] + to - new_row_ptr[row];
    if constexpr (with_columns) new_columns[to] = inverse[columns[from]];
    new_values[to] = values[from];
  }
}

// The key of an entry holds its new row above its new column, so that sorted keys are the entries
// of P A P^T in their order.
__global__ void __launch_bounds__(kThreads)
    number_entries(Index rows, Index nnz, int column_bits, const Index* __restrict__ row_ptr,
                   const Index* __restrict__ columns, const Index* __restrict__ inverse,
                   std::uint64_t* __restrict__ keys, Index* __restrict__ entries) {
  __shared__ Index ends[2];
  const auto first = static_cast<Index>(blockIdx.x * std::int64_t{kEntries});
  const Index count = min(nnz - first, kEntries);
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
    ends[threadIdx.x / 32] = row_of(row_ptr, 0, rows, threadIdx.x == 0 ? first : first + count - 1);
  __syncthreads();
  for (Index k = threadIdx.x; k < count; k += kThreads) {
    const Index entry = first + k;
    const Index row = row_of(row_ptr, ends[0], ends[1] + 1, entry);
    keys[entry] = static_cast<std::uint64_t>(inverse[row]) << column_bits |
                  static_cast<std::uint64_t>(inverse[columns[entry]]);
    entries[entry] = entry;
  }
}

__global__ void take_columns(std::int64_t nnz, std::uint64_t mask,
                             const std::uint64_t* __restrict__ keys, Index* __restrict__ columns) {
  const std::int64_t i = thread_number();
  if (i < nnz) columns[i] = static_cast<Index>(keys[i] & mask);
}

template <class Number>
__global__ void gather_entries(std::int64_t count, const Number* __restrict__ from,
                               const Index* __restrict__ order, Number* __restrict__ to) {
  const std::int64_t i = thread_number();
  if (i < count) to[i] = from[order[i]];
}

__global__ void scatter_entries(std::int64_t count, const double* __restrict__ from,
                                const Index* __restrict__ order, double* __restrict__ to) {
  const std::int64_t i = thread_number();
  if (i < count) to[order[i]] = from[i];
}

__global__ void count_breaks(std::int64_t rows, const Index* __restrict__ order,
                             unsigned long long* __restrict__ breaks) {
  const std::int64_t i = thread_number();
  const bool here = i < rows && (i == 0 ? order[0] != 0 : order[i] != order[i - 1] + 1);
  const int in_block = __syncthreads_count(here);
  if (threadIdx.x == 0 && in_block > 0)
    atomicAdd(breaks, static_cast<unsigned long long>(in_block));
}

DeviceBuffer<Index> permuted_row_ptr(const DeviceCsr<double>& a, DeviceSpan<const Index> order,
                                     StreamRef stream) {
  DeviceBuffer<Index> row_ptr(a.rows + 1, stream);
  gather_lengths<<<blocks_for(a.rows + 1, kThreads), kThreads, 0, stream>>>(
      a.rows, a.row_ptr.data(), order.data(), row_ptr.data());
  check_launch();
  exclusive_sum_in_place(row_ptr.span(), stream);
  return row_ptr;
}

ScratchBuffer<Index> inverse_of(DeviceSpan<const Index> order, StreamRef stream) {
  const auto rows = static_cast<std::int64_t>(order.size());
  ScratchBuffer<Index> inverse(rows, stream);
  invert<<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(rows, order.data(), inverse.data());
  check_launch();
  return inverse;
}

}  // namespace

SortedPermutedMatrix sorted_permuted_matrix(const DeviceCsr<double>& a,
                                            DeviceSpan<const Index> order, StreamRef stream) {
  SortedPermutedMatrix result{
      {a.rows, a.cols, permuted_row_ptr(a, order, stream), DeviceBuffer<Index>(a.nnz, stream),
       DeviceBuffer<double>(a.nnz, stream)},
      DeviceBuffer<Index>(a.nnz, stream)};
  if (a.nnz == 0) return result;
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(a.rows - 1)));
  const ScratchBuffer<std::uint64_t> keys(a.nnz, stream), sorted_keys(a.nnz, stream);
  const ScratchBuffer<Index> callers(a.nnz, stream);
  const ScratchBuffer<Index> inverse = inverse_of(order, stream);
  number_entries<<<blocks_for(a.nnz, kEntries), kThreads, 0, stream>>>(
      static_cast<Index>(a.rows), static_cast<Index>(a.nnz), bits, a.row_ptr.data(),
      a.col_idx.data(), inverse.data(), keys.data(), callers.data());
  check_launch();
  sort_pairs(keys.view(), sorted_keys.span(), callers.view(), result.entries.span(),
             std::max(2 * bits, 1), stream);
  take_columns<<<blocks_for(a.nnz, kThreads), kThreads, 0, stream>>>(
      a.nnz, (std::uint64_t{1} << bits) - 1, sorted_keys.data(), result.matrix.col_idx.data());
  check_launch();
  permute(a.values, result.entries.view(), result.matrix.values.span(), stream);
  return result;
}

DeviceCsrMatrix<double> permuted_matrix(const DeviceCsr<double>& a, DeviceSpan<const Index> order,
                                        StreamRef stream) {
  DeviceCsrMatrix<double> result{a.rows, a.cols, permuted_row_ptr(a, order, stream),
                                 DeviceBuffer<Index>(a.nnz, stream),
                                 DeviceBuffer<double>(a.nnz, stream)};
  if (a.nnz == 0) return result;
  const ScratchBuffer<Index> inverse = inverse_of(order, stream);
  copy_entries<true><<<blocks_for(a.nnz, kEntries), kThreads, 0, stream>>>(
      static_cast<Index>(a.rows), static_cast<Index>(a.nnz), a.row_ptr.data(), a.col_idx.data(),
      a.values.data(), order.data(), inverse.data(), result.row_ptr.data(), result.col_idx.data(),
      result.values.data());
  check_launch();
  return result;
}

void permute_values(DeviceSpan<const Index> row_ptr, DeviceSpan<const double> values,
                    DeviceSpan<const Index> order, DeviceSpan<const Index> permuted_row_ptr,
                    DeviceSpan<double> permuted, StreamRef stream) {
  const auto nnz = static_cast<Index>(values.size());
  if (nnz == 0) return;
  copy_entries<false><<<blocks_for(nnz, kEntries), kThreads, 0, stream>>>(
      static_cast<Index>(order.size()), nnz, row_ptr.data(), nullptr, values.data(), order.data(),
      nullptr, permuted_row_ptr.data(), nullptr, permuted.data());
  check_launch();
}

void permute(DeviceSpan<const double> x, DeviceSpan<const Index> order, DeviceSpan<double> permuted,
             StreamRef stream) {
  const auto count = static_cast<std::int64_t>(order.size());
  if (count == 0) return;
  gather_entries<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
      count, x.data(), order.data(), permuted.data());
  check_launch();
}

void compose(DeviceSpan<const Index> outer, DeviceSpan<const Index> inner,
             DeviceSpan<Index> composed, StreamRef stream) {
  const auto count = static_cast<std::int64_t>(inner.size());
  if (count == 0) return;
  gather_entries<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
      count, outer.data(), inner.data(), composed.data());
  check_launch();
}

void permute_back(DeviceSpan<const double> permuted, DeviceSpan<const Index> order,
                  DeviceSpan<double> x, StreamRef stream) {
  const auto count = static_cast<std::int64_t>(order.size());
  if (count == 0) return;
  scatter_entries<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(count, permuted.data(),
                                                                        order.data(), x.data());
  check_launch();
}

std::int64_t breaks_in(DeviceSpan<const Index> order, StreamRef stream) {
  const auto rows = static_cast<std::int64_t>(order.size());
  if (rows == 0) return 0;
  ScratchBuffer<unsigned long long> breaks(1, stream);
  fill_zero(breaks.span(), stream);
  count_breaks<<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(rows, order.data(),
                                                                    breaks.data());
  check_launch();
  return static_cast<std::int64_t>(read_back(breaks.data(), stream));
}

}  // namespace trireme
