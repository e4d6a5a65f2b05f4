// SPDX-License-Identifier: BSD-3-Clause
// Makes sparse matrices on a GPU from the functors of make_rows.hpp, in three steps: count the
// columns of each row, write them in ascending order, add up the numbers. New numbers repeat the
// last step only.
//
// A functor offers bound(i) besides, a number of columns (runs) that row i does not exceed, and the
// constant kForLanes: whether several lanes may call it, which then share its innermost loop. Rows
// go into classes by that bound, and once they are counted, by their length:
//
//   few      up to kFew columns    8 lanes (1 where lanes cannot share), a table in shared memory
//   more     up to kMore columns   a warp, a table in shared memory
//   many     up to kMany columns   a warp, a table that fills the shared memory of a block
//   any                            a block, one bit per column of the matrix in global memory
//
// A row whose columns exceed its table goes on to the next class. The sets do not depend on the
// order in which lanes come, the columns are sorted, and each number is a sum in the order of the
// functor, by one lane at a time: every run gives the same bits, which are those of the host.
//
// Bytes moved by a product C = A B, times the nonzeros of A, with b = nnz per row of B: 12 + 8 for
// the entry and the row of B that it names, and 12 b (4 b in the first two steps) for that row,
// mostly from the L2 cache; and 12 per nonzero of C once.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_csr_rows.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/row_group.hpp"

namespace trireme::multigrid {

namespace row_kernels {

inline constexpr std::int32_t kFew = 48, kMore = 448, kMany = 7168;
inline constexpr std::int32_t kFewPlaces = 64, kMorePlaces = 512, kManyPlaces = 8192;
inline constexpr std::int32_t kBoundOfMore = 8192;  // a row of a larger bound begins in `many`
inline constexpr int kThreads = 128;
inline constexpr int kBitmapThreads = 256;

template <class F>
inline constexpr int kLanesOfFew = F::kForLanes ? 8 : 1;
template <class F>
inline constexpr int kThreadsOfFew = F::kForLanes ? 128 : 64;

template <int kLanes>
class CudaGroup {
 public:
  __device__ CudaGroup()
      : tile_(
            cooperative_groups::tiled_partition<kLanes>(cooperative_groups::this_thread_block())) {}
  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(tile_.thread_rank()); }
  __device__ static constexpr std::int32_t size() { return kLanes; }
  __device__ void sync() const { tile_.sync(); }
  __device__ std::int32_t sum(std::int32_t value) const {
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
      value += tile_.shfl_xor(value, distance);
    return value;
  }
  __device__ bool any(bool value) const { return tile_.any(value); }
  __device__ std::uint32_t ballot(bool value) const { return tile_.ballot(value); }
  __device__ std::int32_t compare_and_swap(std::int32_t* at, std::int32_t expected,
                                           std::int32_t desired) const {
    return atomicCAS(at, expected, desired);
  }

 private:
  cooperative_groups::thread_block_tile<kLanes> tile_;
};

template <int kLanes>
__device__ std::int64_t group_number() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes;
}
template <int kLanes>
__device__ std::int64_t number_of_groups() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x / kLanes;
}

// Calls f by all lanes, or by the first one where lanes cannot share it.
template <class F, class Sums>
__device__ void call(const F& f, std::int64_t i, Sums& sums) {
  if (F::kForLanes || sums.lane() == 0) f(i, sums);
}

// Lists of rows, one per class above `few`.
struct RowLists {
  std::int32_t* rows[3];
  std::int32_t* sizes;  // of the three
  __device__ void add(int list, std::int32_t row) const {
    rows[list][atomicAdd(sizes + list, 1)] = row;
  }
};

// counts[i] = the bound of row i, and the row goes into its list.
template <class F>
__global__ void find_bounds(std::int64_t rows, const F f, std::int32_t* counts, RowLists lists) {
  const std::int64_t i = group_number<1>();
  if (i >= rows) return;
  const std::int64_t bound = f.bound(i);
  counts[i] = static_cast<std::int32_t>(bound < kBoundOfMore ? bound : kBoundOfMore);
  if (bound <= kFew) return;
  lists.add(bound <= kBoundOfMore ? 0 : 1, static_cast<std::int32_t>(i));
}

// Puts the rows of more than kFew runs into the lists. row_ptr counts columns of the matrix.
static __global__ void list_rows(std::int64_t rows, std::int32_t width, const std::int32_t* row_ptr,
                                 RowLists lists) {
  const std::int64_t i = group_number<1>();
  if (i >= rows) return;
  const std::int32_t count = (row_ptr[i + 1] - row_ptr[i]) / width;
  if (count <= kFew) return;
  lists.add(count <= kMore ? 0 : count <= kMany ? 1 : 2, static_cast<std::int32_t>(i));
}

// Writes the columns of the runs table[0 .. count-1].
template <int kWidth>
__device__ void write_runs(const std::int32_t* table, std::int32_t count, std::int32_t lane,
                           std::int32_t lanes, std::int32_t* to) {
  for (std::int32_t k = lane; k < count * kWidth; k += lanes)
    to[k] = table[k / kWidth] * kWidth + k % kWidth;
}

// Rows of the class `few`: counts them, or writes their columns where row_ptr is given.
template <int kWidth, bool kWrites, class F>
__global__ void __launch_bounds__(kThreadsOfFew<F>)
    few_rows(std::int64_t rows, const F f, std::int32_t* counts, const std::int32_t* row_ptr,
             std::int32_t* col_idx) {
  constexpr int kLanes = kLanesOfFew<F>;
  __shared__ std::int32_t tables[kThreadsOfFew<F> / kLanes * kFewPlaces];
  const std::int64_t i = group_number<kLanes>();
  if (i >= rows) return;
  const CudaGroup<kLanes> group;
  std::int32_t length;
  if constexpr (kWrites)
    length = (row_ptr[i + 1] - row_ptr[i]) / kWidth;
  else
    length = counts[i];
  if (length > kFew) return;
  ColumnSet<kWidth, CudaGroup<kLanes>> set(group, tables + threadIdx.x / kLanes * kFewPlaces,
                                           kFewPlaces);
  call(f, i, set);
  if constexpr (kWrites) {
    const std::int32_t count = set.sort();
    write_runs<kWidth>(tables + threadIdx.x / kLanes * kFewPlaces, count, group.rank(), kLanes,
                       col_idx + row_ptr[i]);
  } else {
    const std::int32_t count = set.size();
    if (group.rank() == 0) counts[i] = count * kWidth;
  }
}

// Rows of list `list` by warps, each with a table of kPlaces. A row that does not fit while it is
// counted goes into the next list.
template <int kWidth, int kPlaces, bool kWrites, class F>
__global__ void __launch_bounds__(kThreads)
    listed_rows(int list, RowLists lists, const F f, std::int32_t* counts,
                const std::int32_t* row_ptr, std::int32_t* col_idx) {
  extern __shared__ std::int32_t tables[];
  std::int32_t* const table = tables + threadIdx.x / 32 * kPlaces;
  const CudaGroup<32> group;
  const std::int32_t size = lists.sizes[list];
  for (std::int64_t at = group_number<32>(); at < size; at += number_of_groups<32>()) {
    const std::int64_t i = lists.rows[list][at];
    group.sync();  // The table has been read.
    ColumnSet<kWidth, CudaGroup<32>> set(group, table, kPlaces);
    call(f, i, set);
    if constexpr (kWrites) {
      const std::int32_t count = set.sort();
      write_runs<kWidth>(table, count, group.rank(), 32, col_idx + row_ptr[i]);
    } else {
      const bool full = set.full();
      const std::int32_t count = set.size();
      if (group.rank() == 0) {
        if (full)
          lists.add(list + 1, static_cast<std::int32_t>(i));
        else
          counts[i] = count * kWidth;
      }
    }
  }
}

// The columns of one row as bits, for the threads of a block.
template <int kWidth>
struct ColumnBits {
  std::uint32_t* words;
  double ignored[kWidth];

  __device__ std::int32_t lane() const { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ std::int32_t lanes() const { return kBitmapThreads; }
  __device__ void next() const {}
  __device__ void insert(std::int32_t column) {
    atomicOr(words + column / 32, 1u << (static_cast<unsigned>(column) % 32));
  }
  __device__ double* at(std::int32_t column) {
    insert(column);
    return ignored;
  }
};

// Rows of the last list by blocks. `bits` has `words` words per block, which are 0 before and after.
template <int kWidth, bool kWrites, class F>
__global__ void __launch_bounds__(kBitmapThreads)
    long_rows(RowLists lists, const F f, std::int64_t words, std::uint32_t* bits,
              std::int32_t* counts, const std::int32_t* row_ptr, std::int32_t* col_idx) {
  using Scan = cub::BlockScan<std::int32_t, kBitmapThreads>;
  __shared__ typename Scan::TempStorage scratch;
  std::uint32_t* const mine = bits + blockIdx.x * words;
  const std::int64_t per_thread = (words + kBitmapThreads - 1) / kBitmapThreads;
  const std::int64_t first = threadIdx.x * per_thread;
  const std::int64_t end = first + per_thread < words ? first + per_thread : words;
  const std::int32_t size = lists.sizes[2];
  for (std::int32_t at = static_cast<std::int32_t>(blockIdx.x); at < size;
       at += static_cast<std::int32_t>(gridDim.x)) {
    const std::int64_t i = lists.rows[2][at];
    ColumnBits<kWidth> set{mine, {}};
    call(f, i, set);
    __syncthreads();
    std::int32_t count = 0, before = 0, total = 0;
    for (std::int64_t w = first; w < end; ++w) count += __popc(mine[w]);
    Scan(scratch).ExclusiveSum(count, before, total);
    if (!kWrites && threadIdx.x == 0) counts[i] = total * kWidth;
    for (std::int64_t w = first; w < end; ++w) {
      if constexpr (kWrites)
        for (std::uint32_t left = mine[w]; left != 0; left &= left - 1, ++before)
          for (std::int32_t c = 0; c < kWidth; ++c)
            col_idx[row_ptr[i] + before * kWidth + c] =
                static_cast<std::int32_t>(w * 32 + __ffs(static_cast<int>(left)) - 1) * kWidth + c;
      mine[w] = 0;
    }
    __syncthreads();
  }
}

// Sums of rows of up to kFew runs, by groups with the sums in shared memory.
template <int kWidth, class F>
__global__ void __launch_bounds__(kThreads)
    few_sums(std::int64_t rows, const F f, const std::int32_t* row_ptr, const std::int32_t* col_idx,
             double* values) {
  constexpr int kLanes = 8, kGroups = kThreads / kLanes;
  __shared__ double sums[kGroups * kFew * kWidth];
  __shared__ std::int32_t columns[kGroups * kFew];
  const std::int64_t i = group_number<kLanes>();
  if (i >= rows) return;
  const CudaGroup<kLanes> group;
  const std::int32_t first = row_ptr[i], count = (row_ptr[i + 1] - first) / kWidth;
  if (count > kFew) return;
  double* const own_sums = sums + threadIdx.x / kLanes * kFew * kWidth;
  std::int32_t* const own_columns = columns + threadIdx.x / kLanes * kFew;
  for (std::int32_t k = group.rank(); k < count; k += kLanes)
    own_columns[k] = col_idx[first + k * kWidth] / kWidth;
  KnownColumns<kWidth, CudaGroup<kLanes>> known(group, own_columns, count, 1, own_sums);
  if (count > 0) f(i, known);
  group.sync();
  for (std::int32_t k = group.rank(); k < count * kWidth; k += kLanes)
    values[first + k] = own_sums[k];
}

// Sums of row i in global memory. Columns are matrix columns there, so that a run has the stride and
// the unit kWidth.
template <int kWidth, class F, class Group>
__device__ void sum_in_place(const F& f, std::int64_t i, const Group& group,
                             const std::int32_t* row_ptr, const std::int32_t* col_idx,
                             double* values) {
  const std::int32_t first = row_ptr[i], count = (row_ptr[i + 1] - first) / kWidth;
  if (count == 0) return;
  KnownColumns<kWidth, Group> known(group, col_idx + first, count, kWidth, values + first);
  f(i, known);
}

template <int kWidth, class F>
__global__ void __launch_bounds__(kThreads)
    listed_sums(RowLists lists, const F f, const std::int32_t* row_ptr, const std::int32_t* col_idx,
                double* values) {
  const CudaGroup<32> group;
  for (int list = 0; list < 3; ++list)
    for (std::int64_t at = group_number<32>(); at < lists.sizes[list]; at += number_of_groups<32>())
      sum_in_place<kWidth>(f, lists.rows[list][at], group, row_ptr, col_idx, values);
}

// One thread per row.
template <int kWidth, class F>
__global__ void __launch_bounds__(kThreads)
    sums_by_threads(std::int64_t rows, const F f, const std::int32_t* row_ptr,
                    const std::int32_t* col_idx, double* values) {
  const std::int64_t i = group_number<1>();
  if (i >= rows) return;
  sum_in_place<kWidth>(f, i, CudaGroup<1>(), row_ptr, col_idx, values);
}

}  // namespace row_kernels

// Makes and refills matrices in the stream of a place.
class DeviceRowMaker {
 public:
  explicit DeviceRowMaker(const CudaPlace& place);

  // The pattern of the matrix of `rows` x `cols` whose row i is what f(i, sums) adds up; cols is a
  // multiple of kWidth. Columns ascend. Throws Error{resource} for more than 2^31-1 nonzeros.
  template <int kWidth, class F>
  DeviceRows make_pattern(std::int64_t rows, std::int64_t cols, const F& f) const;

  // Writes the values of a matrix of the pattern that make_pattern() made with f.
  template <int kWidth, class F>
  void fill(DeviceRows& matrix, const F& f) const;

  template <int kWidth, class F>
  DeviceRows make(std::int64_t rows, std::int64_t cols, const F& f) const {
    DeviceRows matrix = make_pattern<kWidth>(rows, cols, f);
    matrix.values = place_.array<double>(matrix.nnz());
    fill<kWidth>(matrix, f);
    return matrix;
  }

 private:
  // Owns lists of up to `rows` rows each.
  struct Lists {
    ScratchBuffer<std::int32_t> rows[3], sizes;
    row_kernels::RowLists view() const {
      return {{rows[0].data(), rows[1].data(), rows[2].data()}, sizes.data()};
    }
  };
  Lists make_lists(std::int64_t rows) const;
  Lists lists_of(const DeviceRows& matrix, std::int32_t width) const;

  template <int kWidth, bool kWrites, class F>
  void run_classes(std::int64_t rows, std::int64_t cols, const F& f, const Lists& lists,
                   std::int32_t* counts, const std::int32_t* row_ptr, std::int32_t* col_idx) const;

  static unsigned blocks_for(std::int64_t threads, int of_block) {
    return static_cast<unsigned>((threads + of_block - 1) / of_block);
  }

  CudaPlace place_;
  unsigned multiprocessors_;
};

template <int kWidth, bool kWrites, class F>
void DeviceRowMaker::run_classes(std::int64_t rows, std::int64_t cols, const F& f,
                                 const Lists& lists, std::int32_t* counts,
                                 const std::int32_t* row_ptr, std::int32_t* col_idx) const {
  using namespace row_kernels;
  const StreamRef stream = place_.stream();
  const RowLists view = lists.view();
  constexpr int kFewThreads = kThreadsOfFew<F>;
  few_rows<kWidth, kWrites>
      <<<blocks_for(rows * kLanesOfFew<F>, kFewThreads), kFewThreads, 0, stream>>>(
          rows, f, counts, row_ptr, col_idx);
  check_launch();
  constexpr int kBytes = 4;
  listed_rows<kWidth, kMorePlaces, kWrites>
      <<<multiprocessors_ * 8, kThreads, kThreads / 32 * kMorePlaces * kBytes, stream>>>(
          0, view, f, counts, row_ptr, col_idx);
  check_launch();
  listed_rows<kWidth, kManyPlaces, kWrites>
      <<<multiprocessors_ * 6, 32, kManyPlaces * kBytes, stream>>>(1, view, f, counts, row_ptr,
                                                                   col_idx);
  check_launch();
  const std::int64_t words = (cols / kWidth + 31) / 32;
  const unsigned blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>((64 << 20) / (4 * words + 1), 1, 64));
  const ScratchBuffer<std::uint32_t> bits = place_.array<std::uint32_t>(words * blocks);
  fill_zero(bits.span(), stream);
  long_rows<kWidth, kWrites><<<blocks, kBitmapThreads, 0, stream>>>(view, f, words, bits.data(),
                                                                    counts, row_ptr, col_idx);
  check_launch();
}

template <int kWidth, class F>
DeviceRows DeviceRowMaker::make_pattern(std::int64_t rows, std::int64_t cols, const F& f) const {
  using namespace row_kernels;
  const StreamRef stream = place_.stream();
  DeviceRows matrix{rows, cols, place_.array<std::int32_t>(rows + 1), {}, {}};
  std::int32_t* const row_ptr = matrix.row_ptr.data();
  if (rows > 0) {
    const Lists lists = make_lists(rows);
    find_bounds<<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(rows, f, row_ptr,
                                                                     lists.view());
    check_launch();
    run_classes<kWidth, false>(rows, cols, f, lists, row_ptr, nullptr, nullptr);
  }
  const std::int64_t nnz = place_.sum_exclusively(matrix.row_ptr.span());
  check_nonzeros(nnz);
  matrix.col_idx = place_.array<std::int32_t>(nnz);
  if (nnz > 0)
    run_classes<kWidth, true>(rows, cols, f, lists_of(matrix, kWidth), nullptr, row_ptr,
                              matrix.col_idx.data());
  return matrix;
}

template <int kWidth, class F>
void DeviceRowMaker::fill(DeviceRows& matrix, const F& f) const {
  using namespace row_kernels;
  if (matrix.nnz() == 0) return;
  const StreamRef stream = place_.stream();
  const std::int32_t* const row_ptr = matrix.row_ptr.data();
  const std::int32_t* const col_idx = matrix.col_idx.data();
  double* const values = matrix.values.data();
  if constexpr (F::kForLanes) {
    const Lists lists = lists_of(matrix, kWidth);
    constexpr int kSumLanes = 8;
    few_sums<kWidth><<<blocks_for(matrix.rows * kSumLanes, kThreads), kThreads, 0, stream>>>(
        matrix.rows, f, row_ptr, col_idx, values);
    check_launch();
    listed_sums<kWidth>
        <<<multiprocessors_ * 8, kThreads, 0, stream>>>(lists.view(), f, row_ptr, col_idx, values);
  } else {
    sums_by_threads<kWidth><<<blocks_for(matrix.rows, kThreads), kThreads, 0, stream>>>(
        matrix.rows, f, row_ptr, col_idx, values);
  }
  check_launch();
}

}  // namespace trireme::multigrid
