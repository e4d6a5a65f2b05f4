// SPDX-License-Identifier: BSD-3-Clause
// Makes sparse matrices on a GPU from the functors of make_rows.hpp, in three steps: count the
// columns of each row, write them in ascending order, add up the numbers. New numbers repeat the
// last step only.
//
// While columns are counted and written, rows have classes, by F::terms(i) at first:
//
//   0   a thread                 a sorted list in shared memory, of kListPlaces columns
//   1   8 lanes                  a table in shared memory, of kFewPlaces
//   2   a warp                   a table in shared memory, of kMorePlaces
//   3   a warp                   a table that fills the shared memory of a block, of kManyPlaces
//   4   a block                  one bit per column of the matrix in global memory
//
// A row whose columns exceed its table goes on to the next class. Numbers are added up in registers
// where a row has few columns, in shared memory where it has more, and in global memory otherwise.
// The sets do not depend on the order in which lanes come, the columns are sorted, and each number
// is a sum in the order of the functor: every run gives the same bits, which are those of the host.
//
// Bytes moved by a product C = A B, times the nonzeros of A, with b = nnz per row of B: 12 + 8 for
// the entry and the row of B that it names, and 12 b (4 b in the first two steps) for that row,
// mostly from the L2 cache; and 12 per nonzero of C once.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "multigrid/cuda/cuda_group.cuh"
#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_csr_rows.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/row_group.hpp"

namespace trireme::multigrid {

namespace row_kernels {

inline constexpr int kThreads = 128;
inline constexpr int kBitmapThreads = 256;
inline constexpr std::int32_t kListPlaces = 32, kFewPlaces = 128, kMorePlaces = 512,
                              kManyPlaces = 8192;
inline constexpr int kLists = 4;
// Columns of a row whose sums fit into two and into six registers of 8 lanes.
inline constexpr std::int32_t kShortSums = 16, kOwnedSums = 48;
// Columns of a row whose sums fit into shared memory.
inline constexpr std::int32_t kMoreSums = 128;
template <int kWidth>
inline constexpr std::int32_t kFewSums = kWidth == 1 ? 48 : 16;

// The largest numbers of terms of rows that begin in the first classes. One thread per row needs many
// rows.
struct Limits {
  std::int64_t thread, few, more;
};
inline Limits limits_for(std::int64_t rows) {
  constexpr std::int64_t kManyRows = 1 << 16;
  return {rows >= kManyRows ? 256 : 64, 4096, 8192};
}

template <int kLanes>
__device__ std::int64_t group_number() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes;
}
template <int kLanes>
__device__ std::int64_t number_of_groups() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x / kLanes;
}

// Lists of rows, one per class above 0.
struct RowLists {
  std::int32_t* rows[kLists];
  std::int32_t* sizes;    // of the lists
  std::uint8_t* classes;  // by row; null where no one asks
  // Called by any threads of a warp, with the same list.
  __device__ void add(int list, std::int32_t row) const {
    if (classes) classes[row] = static_cast<std::uint8_t>(list + 1);
    const auto together = cooperative_groups::coalesced_threads();
    std::int32_t at = 0;
    if (together.thread_rank() == 0)
      at = atomicAdd(sizes + list, static_cast<std::int32_t>(together.size()));
    rows[list][together.shfl(at, 0) + static_cast<std::int32_t>(together.thread_rank())] = row;
  }
};

// The lists of rows for sums: list l has the rows of up to most[l + 1] runs and more than most[l],
// and the last list all longer ones.
struct SumLimits {
  std::int32_t most[3];
};
// row_ptr counts columns of the matrix.
static __global__ void list_rows(std::int64_t rows, std::int32_t width, SumLimits limits,
                                 const std::int32_t* row_ptr, RowLists lists) {
  const std::int64_t i = group_number<1>();
  if (i >= rows) return;
  const std::int32_t count = (row_ptr[i + 1] - row_ptr[i]) / width;
  for (int l = 0; l < 3; ++l)
    if (count > limits.most[l] && (l == 2 || count <= limits.most[l + 1]))
      lists.add(l, static_cast<std::int32_t>(i));
}

// Rows of class 0: counts them, or writes their columns where row_ptr is given. The first pass finds
// the class of each row.
template <int kWidth, bool kWrites, class F>
__global__ void __launch_bounds__(kThreads)
    thread_rows(std::int64_t rows, const F f, Limits limits, RowLists lists, std::int32_t* counts,
                const std::int32_t* row_ptr, std::int32_t* col_idx) {
  __shared__ std::int32_t columns[kThreads * kListPlaces];
  const std::int64_t i = group_number<1>();
  if (i >= rows) return;
  if constexpr (kWrites) {
    if (lists.classes[i] != 0) return;
  } else {
    const std::int64_t terms = f.terms(i);
    const int begins = terms <= limits.thread ? 0
                       : terms <= limits.few  ? 1
                       : terms <= limits.more ? 2
                                              : 3;
    for (int l = 1; l < kLists; ++l)
      if (begins == l) lists.add(l - 1, static_cast<std::int32_t>(i));
    if (begins > 0) return;
  }
  SortedColumns<kWidth> set(columns + threadIdx.x, kThreads, kListPlaces);
  f(i, set);
  if constexpr (kWrites) {
    std::int32_t* to = col_idx + row_ptr[i];
    for (std::int32_t k = 0; k < set.size(); ++k)
      for (std::int32_t c = 0; c < kWidth; ++c) *to++ = set[k] * kWidth + c;
  } else if (set.full()) {
    lists.add(0, static_cast<std::int32_t>(i));
  } else {
    lists.classes[i] = 0;
    counts[i] = set.size() * kWidth;
  }
}

// Tables of neighbouring groups begin in different banks.
__host__ __device__ constexpr std::int32_t table_pitch(std::int32_t places) { return places + 8; }

// Rows of list `list` by groups of kLanes, each with a table of kPlaces. A row that does not fit while
// it is counted goes into the next list.
template <int kWidth, int kLanes, int kPlaces, bool kWrites, class F>
__global__ void __launch_bounds__(kThreads)
    listed_rows(int list, RowLists lists, const F f, std::int32_t* counts,
                const std::int32_t* row_ptr, std::int32_t* col_idx) {
  extern __shared__ std::int32_t tables[];
  std::int32_t* const table = tables + threadIdx.x / kLanes * table_pitch(kPlaces);
  const CudaGroup<kLanes> group;
  const std::int32_t size = lists.sizes[list];
  for (std::int64_t at = group_number<kLanes>(); at < size; at += number_of_groups<kLanes>()) {
    const std::int64_t i = lists.rows[list][at];
    if (kWrites && lists.classes[i] != list + 1) continue;
    group.sync();  // The table has been read.
    ColumnSet<kWidth, CudaGroup<kLanes>> set(group, table, kPlaces);
    f(i, set);
    if constexpr (kWrites) {
      std::int32_t* const to = col_idx + row_ptr[i];
      const auto write = [&](std::int32_t column, std::int32_t rank) {
        for (std::int32_t c = 0; c < kWidth; ++c) to[rank * kWidth + c] = column * kWidth + c;
      };
      if constexpr (kPlaces <= kMorePlaces) {
        set.for_ranks(write);
      } else {
        const std::int32_t count = set.sort();
        for (std::int32_t k = group.rank(); k < count; k += kLanes) write(table[k], k);
      }
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

  static constexpr bool kOrdered = false;
  __device__ static constexpr bool by_entries() { return false; }
  __device__ static constexpr bool is_full() { return false; }
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
  const std::int32_t size = lists.sizes[kLists - 1];
  for (std::int32_t at = static_cast<std::int32_t>(blockIdx.x); at < size;
       at += static_cast<std::int32_t>(gridDim.x)) {
    const std::int64_t i = lists.rows[kLists - 1][at];
    ColumnBits<kWidth> set{mine, {}};
    f(i, set);
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

// The sums of row i by 8 lanes, with the sums and the columns in shared memory.
inline constexpr int kSumLanes = 8;
template <int kWidth, class F>
__device__ void sum_in_shared_memory(const F& f, std::int64_t i, std::int32_t first,
                                     std::int32_t count, double* sums, std::int32_t* columns,
                                     const std::int32_t* col_idx, double* values) {
  const CudaGroup<kSumLanes> group;
  group.sync();  // The sums of another row have been read.
  for (std::int32_t k = group.rank(); k < count; k += kSumLanes)
    columns[k] = col_idx[first + k * kWidth] / kWidth;
  KnownColumns<kWidth, CudaGroup<kSumLanes>> known(group, columns, count, 1, sums);
  if (count > 0) f(i, known);
  group.sync();
  for (std::int32_t k = group.rank(); k < count * kWidth; k += kSumLanes)
    values[first + k] = sums[k];
}

// Sums of rows of up to kFewSums runs.
template <int kWidth, class F>
__global__ void __launch_bounds__(kThreads)
    few_sums(std::int64_t rows, const F f, const std::int32_t* row_ptr, const std::int32_t* col_idx,
             double* values) {
  constexpr int kGroups = kThreads / kSumLanes;
  constexpr std::int32_t kMost = kFewSums<kWidth>;
  __shared__ double sums[kGroups * kMost * kWidth];
  __shared__ std::int32_t columns[kGroups * kMost];
  const std::int64_t i = group_number<kSumLanes>();
  if (i >= rows) return;
  const std::int32_t first = row_ptr[i], count = (row_ptr[i + 1] - first) / kWidth;
  if (count > kMost) return;
  const int group = static_cast<int>(threadIdx.x) / kSumLanes;
  sum_in_shared_memory<kWidth>(f, i, first, count, sums + group * kMost * kWidth,
                               columns + group * kMost, col_idx, values);
}

// Sums of the rows of list 1, of up to kMoreSums columns.
template <class F>
__global__ void __launch_bounds__(kThreads)
    more_sums(RowLists lists, const F f, const std::int32_t* row_ptr, const std::int32_t* col_idx,
              double* values) {
  constexpr int kGroups = kThreads / kSumLanes;
  __shared__ double sums[kGroups * kMoreSums];
  __shared__ std::int32_t columns[kGroups * kMoreSums];
  const int group = static_cast<int>(threadIdx.x) / kSumLanes;
  const std::int32_t size = lists.sizes[1];
  for (std::int64_t at = group_number<kSumLanes>(); at < size;
       at += number_of_groups<kSumLanes>()) {
    const std::int64_t i = lists.rows[1][at];
    sum_in_shared_memory<1>(f, i, row_ptr[i], row_ptr[i + 1] - row_ptr[i], sums + group * kMoreSums,
                            columns + group * kMoreSums, col_idx, values);
  }
}

// Sums of rows of up to kShortSums columns, in registers.
template <class F>
__global__ void __launch_bounds__(kThreads)
    short_sums(std::int64_t rows, const F f, const std::int32_t* row_ptr,
               const std::int32_t* col_idx, double* values) {
  const std::int64_t i = group_number<kSumLanes>();
  if (i >= rows) return;
  const std::int32_t first = row_ptr[i], count = row_ptr[i + 1] - first;
  if (count == 0 || count > kShortSums) return;
  OwnedSums<kShortSums / kSumLanes, CudaGroup<kSumLanes>> sums({}, col_idx + first, count);
  f(i, sums);
  sums.write(count, values + first);
}

// Sums of the rows of list 0, of up to kOwnedSums columns, in registers.
template <class F>
__global__ void __launch_bounds__(kThreads)
    owned_sums(RowLists lists, const F f, const std::int32_t* row_ptr, const std::int32_t* col_idx,
               double* values) {
  const std::int32_t size = lists.sizes[0];
  for (std::int64_t at = group_number<kSumLanes>(); at < size;
       at += number_of_groups<kSumLanes>()) {
    const std::int64_t i = lists.rows[0][at];
    const std::int32_t first = row_ptr[i], count = row_ptr[i + 1] - first;
    OwnedSums<kOwnedSums / kSumLanes, CudaGroup<kSumLanes>> sums({}, col_idx + first, count);
    f(i, sums);
    sums.write(count, values + first);
  }
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
  for (std::int64_t at = group_number<32>(); at < lists.sizes[2]; at += number_of_groups<32>())
    sum_in_place<kWidth>(f, lists.rows[2][at], group, row_ptr, col_idx, values);
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
    ScratchBuffer<std::int32_t> rows[row_kernels::kLists], sizes;
    ScratchBuffer<std::uint8_t> classes;
    row_kernels::RowLists view() const {
      return {{rows[0].data(), rows[1].data(), rows[2].data(), rows[3].data()},
              sizes.data(),
              classes.data()};
    }
  };
  Lists make_lists(std::int64_t rows, int count) const;
  Lists lists_of(const DeviceRows& matrix, std::int32_t width, row_kernels::SumLimits limits) const;

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
  thread_rows<kWidth, kWrites><<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(
      rows, f, limits_for(rows), view, counts, row_ptr, col_idx);
  check_launch();
  constexpr int kBytes = 4;
  listed_rows<kWidth, 8, kFewPlaces, kWrites>
      <<<multiprocessors_ * 16, kThreads, kThreads / 8 * table_pitch(kFewPlaces) * kBytes,
         stream>>>(0, view, f, counts, row_ptr, col_idx);
  check_launch();
  listed_rows<kWidth, 32, kMorePlaces, kWrites>
      <<<multiprocessors_ * 16, kThreads, kThreads / 32 * table_pitch(kMorePlaces) * kBytes,
         stream>>>(1, view, f, counts, row_ptr, col_idx);
  check_launch();
  listed_rows<kWidth, 32, kManyPlaces, kWrites>
      <<<multiprocessors_ * 6, 32, table_pitch(kManyPlaces) * kBytes, stream>>>(2, view, f, counts,
                                                                                row_ptr, col_idx);
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
  const Lists lists = make_lists(rows, kLists);
  if (rows > 0) run_classes<kWidth, false>(rows, cols, f, lists, row_ptr, nullptr, nullptr);
  const std::int64_t nnz = place_.sum_exclusively(matrix.row_ptr.span());
  check_nonzeros(nnz);
  matrix.col_idx = place_.array<std::int32_t>(nnz);
  if (nnz > 0)
    run_classes<kWidth, true>(rows, cols, f, lists, nullptr, row_ptr, matrix.col_idx.data());
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
  bool by_owners = false;
  if constexpr (F::kOwners) by_owners = f.by_owners();
  constexpr std::int32_t kFew = kFewSums<kWidth>;
  const SumLimits limits = by_owners ? SumLimits{{kShortSums, kOwnedSums, kMoreSums}}
                                     : SumLimits{{kFew, kFew, kWidth == 1 ? kMoreSums : kFew}};
  const Lists lists = lists_of(matrix, kWidth, limits);
  const RowLists view = lists.view();
  if constexpr (F::kOwners) {
    if (by_owners) {
      short_sums<<<blocks_for(matrix.rows * kSumLanes, kThreads), kThreads, 0, stream>>>(
          matrix.rows, f, row_ptr, col_idx, values);
      check_launch();
      owned_sums<<<multiprocessors_ * 16, kThreads, 0, stream>>>(view, f, row_ptr, col_idx, values);
      check_launch();
    }
  }
  if (!by_owners) {
    few_sums<kWidth><<<blocks_for(matrix.rows * kSumLanes, kThreads), kThreads, 0, stream>>>(
        matrix.rows, f, row_ptr, col_idx, values);
    check_launch();
  }
  if constexpr (kWidth == 1) {
    more_sums<<<multiprocessors_ * 9, kThreads, 0, stream>>>(view, f, row_ptr, col_idx, values);
    check_launch();
  }
  listed_sums<kWidth>
      <<<multiprocessors_ * 8, kThreads, 0, stream>>>(view, f, row_ptr, col_idx, values);
  check_launch();
}

}  // namespace trireme::multigrid
