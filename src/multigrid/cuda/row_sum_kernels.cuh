// SPDX-License-Identifier: BSD-3-Clause
// Kernels that add up the numbers of rows whose columns are known (make_rows.cuh).
#pragma once

#include <cstdint>

#include "multigrid/cuda/cuda_group.cuh"
#include "multigrid/cuda/row_lists.cuh"
#include "multigrid/set_up/row_group.hpp"

namespace trireme::multigrid::row_kernels {

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

// Sums of row i in global memory. Columns are matrix columns there, so that a run has the stride
// and the unit kWidth.
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

}  // namespace trireme::multigrid::row_kernels
